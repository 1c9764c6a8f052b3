// Fills tables from a checkpoint.
#ifndef REVERB_TF_CHECKPOINT_RESTORE_H_
#define REVERB_TF_CHECKPOINT_RESTORE_H_

#include <memory>
#include <vector>

#include "cc/checkpoint/file_system.h"
#include "cc/checkpoint/store.h"
#include "cc/core/table.h"
#include "reverb_tf/checkpoint.h"
#include "reverb_tf/server.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

struct Restored {
  RestoreReport report;
  std::vector<std::shared_ptr<core::Table>> filled;
};

// Loads the newest checkpoint of options.path, or else of options.fallback_path, into the tables of
// the same names; `store` learns what is stored already. Errors as of Server::Start; after one the
// tables are empty.
Result<Restored> Restore(FileSystem* files, const CheckpointOptions& options,
                         const CheckpointLoadOptions& load,
                         const std::vector<std::shared_ptr<core::Table>>& tables, Store* store);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_RESTORE_H_

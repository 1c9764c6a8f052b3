// Removes what is no longer needed, and nothing else.
#ifndef REVERB_TF_CHECKPOINT_RETENTION_H_
#define REVERB_TF_CHECKPOINT_RETENTION_H_

#include <cstdint>
#include <string>

#include "cc/checkpoint/file_system.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// All of these want the lock of the folder `root`, and remove only what IsOurCheckpoint and
// IsOurSegment vouch for. They go on after an error and return the first one.

// What a process that has ended was writing or removing.
Status RemoveLeftovers(FileSystem* files, const std::string& root);

// All complete checkpoints of ours but the newest `keep`; then the segments that no complete
// checkpoint names. With a manifest that cannot be read, no segment is removed.
Status RemoveOld(FileSystem* files, const std::string& root, int64_t keep);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_RETENTION_H_

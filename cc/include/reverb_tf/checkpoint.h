// Checkpoints: where a server writes its tables, and reading them without a server.
#ifndef REVERB_TF_CHECKPOINT_H_
#define REVERB_TF_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reverb_tf/export.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/status.h"
#include "reverb_tf/table.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

enum class CheckpointFormat {
  // A folder for each checkpoint, and files of chunks beside them that checkpoints share: a chunk
  // is written once.
  kIncremental,
  // What dm-reverb reads and writes: every checkpoint is complete in its folder.
  kReverb,
};

// Where and how a server writes checkpoints.
struct CheckpointOptions {
  // The folder that checkpoints are written in, made when it is missing; or one checkpoint in such
  // a folder, which is then the one that is loaded. Not empty.
  std::string path;
  CheckpointFormat format = CheckpointFormat::kIncremental;
  // So many complete checkpoints of ours are kept, >= 1; older ones are deleted after a new one is
  // complete. Nothing else in the folder is ever deleted.
  int64_t keep = 1;
  // A checkpoint, or a folder of checkpoints, that is loaded when `path` has none; NOT_FOUND when
  // it has none either. Empty: there is no such.
  std::string fallback_path;
  // True: a server whose paths hold no checkpoint does not start (NOT_FOUND).
  bool must_restore = false;
  // A checkpoint is written so often, while the server runs; zero: only when asked for.
  Duration every = Duration::zero();
};

// During a load. Both are called on the thread that loads, about every 0.1 s.
struct CheckpointLoadOptions {
  // Bytes of files read so far, and of all files.
  std::function<void(int64_t done, int64_t total)> progress;
  // True ends the load with CANCELLED.
  std::function<bool()> interrupted;
};

// One table of a checkpoint.
struct CheckpointTable {
  TableOptions options;  // without a seed
  int64_t num_items = 0;
  int64_t inserts = 0;  // of the rate limiter, and so on
  int64_t samples = 0;
  int64_t deletes = 0;
  int64_t num_deleted_episodes = 0;
  int64_t num_unique_samples = 0;
};

// Reads one checkpoint of either format. Not thread-safe. What is damaged is reported as DATA_LOSS
// with file, record, byte offset and cause, and with the names of other checkpoints beside it.
class REVERB_TF_EXPORT CheckpointReader {
 public:
  // The items of one table in the order of their insertion. Thread-safe against other objects;
  // outlives its reader.
  class Items {
   public:
    virtual ~Items() = default;
    // The next item: probability 0, table_size that of the checkpoint, times_sampled as it was
    // then. OUT_OF_RANGE after the last.
    virtual Result<Sample> Next() = 0;
  };

  // `path` is a checkpoint, or a folder of checkpoints, of which the newest complete one is opened.
  // Reads tables and items, but no chunks. NOT_FOUND: no such folder, or no complete checkpoint.
  static Result<std::unique_ptr<CheckpointReader>> Open(const std::string& path,
                                                        const CheckpointLoadOptions& options = {});
  virtual ~CheckpointReader() = default;

  // The checkpoint's folder.
  virtual const std::string& path() const = 0;
  virtual CheckpointFormat format() const = 0;
  // In the order of the file.
  virtual const std::vector<CheckpointTable>& tables() const = 0;
  // Of all files that the checkpoint needs; some may be shared with other checkpoints.
  virtual int64_t num_bytes() const = 0;
  // The first call reads all chunks into memory. NOT_FOUND lists the tables there are.
  virtual Result<std::unique_ptr<Items>> ReadItems(const std::string& table) = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_CHECKPOINT_H_

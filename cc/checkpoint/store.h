// Writes checkpoints into a folder.
#ifndef REVERB_TF_CHECKPOINT_STORE_H_
#define REVERB_TF_CHECKPOINT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/checkpoint/catalog.h"
#include "cc/checkpoint/chunk_set.h"
#include "cc/checkpoint/file_system.h"
#include "cc/checkpoint/manifest.h"
#include "cc/checkpoint/stored_chunks.h"
#include "cc/core/clock.h"
#include "cc/core/table_snapshot.h"
#include "reverb_tf/checkpoint.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

struct StoreOptions {
  CheckpointFormat format = CheckpointFormat::kIncremental;
  int64_t keep = 1;
  // A new segment is begun after so many bytes. (Old chunks go together, so segments do.)
  int64_t max_segment_bytes = int64_t{256} << 20;
  FileSystem* files = FileSystem::Posix();
  core::Clock* clock = core::Clock::System();
  // Gets a line when a checkpoint was written but something old could not be removed.
  std::function<void(const std::string& line)> warn;
};

// For one thread at a time. A checkpoint is written under a temporary name, synced and renamed, so
// that whatever ends the process or fails, what was complete stays so and can be loaded. Nothing is
// removed but what a store has written, recognised by name and content.
class Store {
 public:
  Store(std::string root, StoreOptions options);

  // Returns the folder of the new checkpoint, which sorts behind all others. `interrupted` is asked
  // now and then: true ends the save with CANCELLED. After any error the older checkpoints are as
  // they were; temporary files may be left, which the next save removes. UNAVAILABLE: another
  // process is writing to the folder. RESOURCE_EXHAUSTED: the disk is full.
  Result<std::string> Save(std::vector<core::TableSnapshot> tables,
                           const std::function<bool()>& interrupted = nullptr);

  // What is known of the root's segments from loading one of its checkpoints: chunks of tables that
  // were filled from it need not be written again.
  void SetStored(StoredChunks stored) { stored_ = std::move(stored); }

  const std::string& root() const { return root_; }

 private:
  using Interrupted = std::function<bool()>;

  Result<std::string> NewName() const;
  std::string TemporaryPath(const std::string& name) const;
  // Forgets segments that are no longer what they were.
  Status CheckSegments();
  // `is_there`: the checkpoint has got its name, whatever is returned.
  Status WriteCheckpoint(const std::string& name, const std::vector<core::TableSnapshot>& tables,
                         const ChunkSet& chunks, const Interrupted& interrupted, bool* is_there);
  // Writes what no segment has; `next` is what is stored then.
  Status WriteSegments(const std::string& name, const ChunkSet& chunks,
                       const Interrupted& interrupted, StoredChunks* next);
  // Chunks that have to be written; the others are entered in `next`, with their segments.
  std::vector<const core::Chunk*> FindMissing(const ChunkSet& chunks, StoredChunks* next) const;
  // False when no segment has it.
  bool FindStored(const core::Chunk& chunk, StoredChunk* stored) const;
  Status WriteFolder(const std::string& folder, const std::vector<core::TableSnapshot>& tables,
                     const ChunkSet& chunks, const Interrupted& interrupted, Manifest manifest);

  const std::string root_;
  const StoreOptions options_;
  StoredChunks stored_;
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_STORE_H_

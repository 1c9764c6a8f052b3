// The chunks that the items of some tables need.
#ifndef REVERB_TF_CHECKPOINT_CHUNK_SET_H_
#define REVERB_TF_CHECKPOINT_CHUNK_SET_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/core/flat_map.h"
#include "cc/core/table_snapshot.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// Items in files refer to chunks by their keys, which peers choose: two chunks with one key and
// other bytes may be in the tables at once. The later one then gets a new key, and so do the
// trajectories that have it. Not thread-safe.
class ChunkSet {
 public:
  // Adds the chunks of all items, in their order. May replace trajectories.
  Status Add(std::vector<core::TableSnapshot>* tables);

  // With distinct keys; they live as long as the tables that were added, and this.
  const std::vector<const core::Chunk*>& chunks() const { return chunks_; }
  int64_t num_bytes() const { return num_bytes_; }

 private:
  static constexpr uint32_t kAbsent = 0xffffffff;

  // What stands for the chunk in files: itself, or a copy with another key.
  Result<const core::Chunk*> Canonical(const core::Chunk& chunk);
  Result<const core::Chunk*> Resolve(const core::Chunk& chunk, const core::Chunk& holder);
  Status AddTrajectory(core::TrajectoryRef* trajectory);

  std::vector<const core::Chunk*> chunks_;
  core::FlatMap<uint32_t, kAbsent> numbers_;  // by key
  // By serial number: the chunks whose key was taken when they came.
  std::unordered_map<uint64_t, const core::Chunk*> doubles_;
  std::vector<core::ChunkRef> copies_;
  int64_t num_bytes_ = 0;
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_CHUNK_SET_H_

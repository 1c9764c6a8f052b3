// The chunks that an insert stream holds.
#ifndef REVERB_TF_SERVER_STREAM_CHUNKS_H_
#define REVERB_TF_SERVER_STREAM_CHUNKS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cc/core/chunk.h"
#include "reverb_tf/status.h"

namespace reverb_tf::server {

// Not thread-safe.
class StreamChunks {
 public:
  // A key that is held already is ignored: peers may send a chunk again.
  void Add(core::ChunkRef chunk);
  // Null when the key is not held.
  core::ChunkRef Find(uint64_t key) const;
  // Drops every chunk that is not listed. FAILED_PRECONDITION, naming the key, when one is not held
  // or listed twice. Takes time in the number of chunks held and listed.
  Status Keep(const std::vector<uint64_t>& keys);

  size_t size() const { return chunks_.size(); }

 private:
  struct Held {
    core::ChunkRef chunk;
    uint64_t kept_in = 0;  // the last Keep that listed it
  };

  std::unordered_map<uint64_t, Held> chunks_;
  uint64_t keeps_ = 0;
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_STREAM_CHUNKS_H_

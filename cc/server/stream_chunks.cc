#include "cc/server/stream_chunks.h"

#include <string>
#include <utility>

namespace reverb_tf::server {

void StreamChunks::Add(core::ChunkRef chunk) {
  const uint64_t key = chunk->key();
  Held& held = chunks_[key];
  if (!held.chunk) held.chunk = std::move(chunk);
}

core::ChunkRef StreamChunks::Find(uint64_t key) const {
  const auto it = chunks_.find(key);
  return it == chunks_.end() ? nullptr : it->second.chunk;
}

Status StreamChunks::Keep(const std::vector<uint64_t>& keys) {
  ++keeps_;
  for (const uint64_t key : keys) {
    const auto it = chunks_.find(key);
    if (it == chunks_.end()) {
      return FailedPreconditionError("keep_chunk_keys lists chunk " + std::to_string(key) +
                                     ", which the stream does not hold");
    }
    if (it->second.kept_in == keeps_) {
      return FailedPreconditionError("keep_chunk_keys lists chunk " + std::to_string(key) +
                                     " twice");
    }
    it->second.kept_in = keeps_;
  }
  if (keys.size() == chunks_.size()) return OkStatus();
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    it = it->second.kept_in == keeps_ ? std::next(it) : chunks_.erase(it);
  }
  return OkStatus();
}

}  // namespace reverb_tf::server

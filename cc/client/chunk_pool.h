// The chunks that rows of a writer's columns are in.
#ifndef REVERB_TF_CLIENT_CHUNK_POOL_H_
#define REVERB_TF_CLIENT_CHUNK_POOL_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "cc/client/insert_session.h"
#include "cc/core/chunk.h"

namespace reverb_tf::client {

// Counts how many columns use a chunk, and tells when the first and the last does. Not thread-safe.
class ChunkPool {
 public:
  using Slot = uint32_t;

  // `columns` >= 1 columns have rows in the chunk.
  Slot Add(core::ChunkRef chunk, int32_t columns) {
    events_.push_back({chunk->key(), true});
    if (free_.empty()) {
      entries_.push_back({std::move(chunk), columns});
      return static_cast<Slot>(entries_.size() - 1);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    entries_[slot] = {std::move(chunk), columns};
    return slot;
  }

  // A column has no more use for it.
  void Release(Slot slot) {
    Entry& entry = entries_[slot];
    if (--entry.columns > 0) return;
    events_.push_back({entry.chunk->key(), false});
    entry.chunk.reset();
    free_.push_back(slot);
  }

  const core::ChunkRef& chunk(Slot slot) const { return entries_[slot].chunk; }

  // What has happened since ClearEvents.
  const std::vector<ChunkEvent>& events() const { return events_; }
  void ClearEvents() { events_.clear(); }

 private:
  struct Entry {
    core::ChunkRef chunk;
    int32_t columns = 0;
  };

  std::vector<Entry> entries_;
  std::vector<Slot> free_;
  std::vector<ChunkEvent> events_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_CHUNK_POOL_H_

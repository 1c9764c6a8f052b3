// Which episodes the items of a table come from.
#ifndef REVERB_TF_CORE_EPISODE_COUNTER_H_
#define REVERB_TF_CORE_EPISODE_COUNTER_H_

#include <cstdint>

#include "cc/core/flat_map.h"

namespace reverb_tf::core {

// Counts references: one for each chunk of each item. Not thread-safe.
class EpisodeCounter {
 public:
  // n >= 1.
  void Add(uint64_t episode_id, int64_t n) {
    const auto [count, inserted] = references_.Insert(episode_id, n);
    if (!inserted) *count += n;
  }
  // At most as many as were added.
  void Remove(uint64_t episode_id, int64_t n) {
    int64_t* count = references_.Find(episode_id);
    if (count == nullptr) return;
    *count -= n;
    if (*count > 0) return;
    *count = n;  // any value that the map can hold
    references_.Erase(episode_id);
    ++num_deleted_;
  }

  // With references.
  int64_t num_episodes() const { return static_cast<int64_t>(references_.size()); }
  // How often the last reference to an episode went.
  int64_t num_deleted() const { return num_deleted_; }
  void set_num_deleted(int64_t n) { num_deleted_ = n; }
  int64_t memory_bytes() const { return static_cast<int64_t>(references_.memory_bytes()); }

 private:
  FlatMap<int64_t, 0> references_;
  int64_t num_deleted_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_EPISODE_COUNTER_H_

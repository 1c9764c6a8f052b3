// What a table holds, and what an insert, a sample and a deletion do to it.
#ifndef REVERB_TF_CORE_TABLE_STATE_H_
#define REVERB_TF_CORE_TABLE_STATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "cc/core/episode_counter.h"
#include "cc/core/item_store.h"
#include "cc/core/rate_limiter.h"
#include "cc/core/selector.h"
#include "cc/core/table.h"
#include "cc/core/table_snapshot.h"

namespace reverb_tf::core {

// Not thread-safe but for CheckPriority: the table calls it under its lock. What is to be freed is
// handed out in a Discarded, to be destroyed without the lock. Priorities have passed
// CheckPriority; that a selector refuses one all the same, or a slot, is a damaged process, which
// is ended.
class TableState {
 public:
  struct Discarded {
    std::vector<TrajectoryRef> trajectories;
    std::vector<ItemStore> stores;
    std::vector<EpisodeCounter> episodes;
  };

  TableState(int64_t max_size, int32_t max_times_sampled, const RateLimiterOptions& rate_limiter,
             std::unique_ptr<Selector> sampler, std::unique_ptr<Selector> remover);

  // INVALID_ARGUMENT with the value, when the sampler or the remover cannot hold it. Thread-safe.
  Status CheckPriority(double priority) const;

  // Inserts the item, taking its trajectory, and evicts one if there are too many then; or, if the
  // key is there already, updates its priority.
  void InsertOrUpdate(NewItem* item, int64_t now_nanos, Discarded* discarded);
  // Begins to fetch what an insert of the key reads into the cache.
  void Prefetch(uint64_t key) const { items_.Prefetch(key); }
  // Samples, and appends the items, as long as the limiter allows it, there are less than
  // `max_items` of them, and less than `max_bytes` bytes in their chunks (one item in any case).
  // Adds to `bytes`; rate_limited is left to the caller.
  void Sample(int64_t max_items, size_t max_bytes, std::vector<SampledItem>* items, size_t* bytes,
              Discarded* discarded);
  // False for an unknown key.
  bool Delete(uint64_t key, Discarded* discarded);
  void Update(const PriorityUpdate* updates, size_t num_updates);
  // Empty, all counters but the version zero.
  void Reset(Discarded* discarded);
  // False for an unknown key.
  bool Get(uint64_t key, SampledItem* item) const;
  // As Table::List, into an empty page.
  void List(uint64_t start, size_t max_items, int64_t now_nanos, ItemPage* page) const;
  void SetLimiter(const RateLimiterOptions& options) { limiter_.SetOptions(options); }
  // How many items were inserted so far.
  int64_t version() const { return version_; }
  // As ItemStore::Summarize.
  bool SummarizePriorities(size_t* block) { return items_.Summarize(block); }
  PriorityStats priorities() const { return items_.priorities(); }

  // Copies the items, in any order.
  void CopyItems(std::vector<TableSnapshot::Item>* items) const;
  // Fills the empty state, taking the trajectories; the items have distinct keys. Returns how many
  // items were removed again: those that were sampled often enough, and those above the maximal
  // size, by the remover's choice.
  int64_t Restore(TableSnapshot* snapshot, Discarded* discarded);

  const RateLimiter& limiter() const { return limiter_; }
  const Selector& sampler() const { return *sampler_; }
  const Selector& remover() const { return *remover_; }
  int64_t size() const { return items_.size(); }
  int64_t num_unique_samples() const { return num_unique_samples_; }
  const EpisodeCounter& episodes() const { return episodes_; }
  int64_t memory_bytes() const;
  // Of the chunks of each item.
  int64_t data_bytes() const { return data_bytes_; }

 private:
  // Keys or picks that are handled side by side, so that they wait for memory together.
  inline static constexpr size_t kGroup = 16;

  // How many of `max` samples the limiter allows now.
  size_t NumAllowed(size_t max) const;
  void SampleOne(const Selector::Pick& pick, SampledItem* sample, Discarded* discarded);
  void UpdateGroup(const PriorityUpdate* updates, size_t n);
  void FillRow(ItemRow* row, NewItem* item, int64_t now_nanos);
  void SetPriority(Slot slot, double priority);
  // Takes the item out and returns its trajectory.
  TrajectoryRef Remove(Slot slot);

  const int64_t max_size_;
  const int32_t max_times_sampled_;
  RateLimiter limiter_;
  const std::unique_ptr<Selector> sampler_;
  const std::unique_ptr<Selector> remover_;
  ItemStore items_;
  EpisodeCounter episodes_;
  int64_t num_unique_samples_ = 0;
  int64_t data_bytes_ = 0;
  int64_t last_inserted_at_nanos_ = 0;
  int64_t version_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TABLE_STATE_H_

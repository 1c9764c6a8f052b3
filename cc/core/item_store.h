// The items of a table: rows that are found by slot, or by key.
#ifndef REVERB_TF_CORE_ITEM_STORE_H_
#define REVERB_TF_CORE_ITEM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cc/core/flat_map.h"
#include "cc/core/priority_stats.h"
#include "cc/core/selector.h"
#include "cc/core/trajectory.h"

namespace reverb_tf::core {

// One cache line.
struct alignas(64) ItemRow {
  uint64_t key = 0;
  double priority = 0;
  TrajectoryRef trajectory;
  int64_t inserted_at_nanos = 0;
  // Of all chunks of the trajectory when `num_chunks` > 0, so that they need not be read to delete
  // the item; with 0 the chunks are of several episodes.
  uint64_t episode_id = 0;
  int32_t num_chunks = 0;
  int32_t times_sampled = 0;
  size_t chunk_bytes = 0;  // of the trajectory
};

// Rows lie in blocks, which never move; a slot is the number of a row and is used again after its
// item is removed. Not thread-safe. Everything is O(1), growing the key index amortised, unless it
// says otherwise.
class ItemStore {
 public:
  inline static constexpr Slot kNoSlot = 0xffffffff;
  // Items there is room for.
  inline static constexpr int64_t kMaxSize = 0xfffffff0;

  int64_t size() const { return static_cast<int64_t>(slots_.size()); }
  ItemRow& row(Slot slot) { return blocks_[slot / kBlockSize][slot % kBlockSize]; }
  const ItemRow& row(Slot slot) const { return blocks_[slot / kBlockSize][slot % kBlockSize]; }

  // kNoSlot when absent.
  Slot Find(uint64_t key) const {
    const Slot* slot = slots_.Find(key);
    return slot == nullptr ? kNoSlot : *slot;
  }
  // Begin to fetch what is needed next into the cache.
  void Prefetch(uint64_t key) const { slots_.Prefetch(key); }
  void PrefetchRow(Slot slot) const { __builtin_prefetch(&row(slot), 1); }
  void PrefetchTrajectory(Slot slot) const { __builtin_prefetch(row(slot).trajectory.get(), 1); }

  // Calls visit(const ItemRow&) for each item, in any order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    constexpr Slot kAhead = 16;  // rows of which the trajectories are fetched
    for (Slot slot = 0; slot < num_rows_; ++slot) {
      if (slot + kAhead < num_rows_) PrefetchTrajectory(slot + kAhead);
      if (row(slot).trajectory) visit(row(slot));
    }
  }

  // The slot of the key; a new key gets a row, of which the key is set, and second is true.
  std::pair<Slot, bool> FindOrAdd(uint64_t key);
  // Removes the item and returns its trajectory.
  TrajectoryRef Remove(Slot slot);

  void SetPriority(Slot slot, double priority) {
    row(slot).priority = priority;
    changed_[slot / kBlockSize] = 1;
  }

  // Slots that hold or held items are below. A slot among them without an item has no trajectory.
  Slot num_rows() const { return num_rows_; }

  // Statistics of the priorities, kept without work in the operations above: those only mark the
  // block of rows that they change. Summarize looks at marked blocks from number `*block` on, at
  // most 8192 rows; true: there may be more, from the new `*block` on.
  bool Summarize(size_t* block);
  // As of the last Summarize of each block. O(size / 512).
  PriorityStats priorities() const;

  size_t memory_bytes() const;

 private:
  inline static constexpr size_t kBlockSize = 512;

  FlatMap<Slot, kNoSlot> slots_;  // by key
  std::vector<std::unique_ptr<ItemRow[]>> blocks_;
  // By block: 1 if `stats_` of it is out of date. (Not bytes: to the compiler those may be
  // anything.)
  std::vector<uint32_t> changed_;
  std::vector<PriorityStats> stats_;  // by block
  Slot num_rows_ = 0;                 // used so far
  Slot first_free_ = kNoSlot;  // below num_rows_; the key of a free row is the next free slot
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_ITEM_STORE_H_

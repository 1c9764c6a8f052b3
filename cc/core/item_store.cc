#include "cc/core/item_store.h"

#include <algorithm>

namespace reverb_tf::core {
namespace {

// Read in 50 us or so.
constexpr int kBlocksAtOnce = 16;

void Add(double priority, PriorityStats* stats) {
  stats->min = std::min(stats->min, priority);
  if (priority > 0) stats->min_positive = std::min(stats->min_positive, priority);
  stats->max = std::max(stats->max, priority);
  stats->sum += priority;
}

}  // namespace

std::pair<Slot, bool> ItemStore::FindOrAdd(uint64_t key) {
  const Slot slot = first_free_ != kNoSlot ? first_free_ : num_rows_;
  const auto [found, added] = slots_.Insert(key, slot);
  if (!added) return {*found, false};
  if (slot == first_free_) {
    first_free_ = static_cast<Slot>(row(slot).key);
  } else {
    if (slot / kBlockSize == blocks_.size()) {
      blocks_.push_back(std::make_unique<ItemRow[]>(kBlockSize));
      changed_.push_back(0);
      stats_.emplace_back();
    }
    ++num_rows_;
  }
  row(slot).key = key;
  changed_[slot / kBlockSize] = 1;
  return {slot, true};
}

TrajectoryRef ItemStore::Remove(Slot slot) {
  ItemRow& removed = row(slot);
  // A full table with a fifo remover, the usual one, removes slot after slot.
  if (slot + 2 < num_rows_) {
    PrefetchRow(slot + 2);
    slots_.Prefetch(row(slot + 1).key);
  }
  slots_.Erase(removed.key);
  removed.key = first_free_;
  first_free_ = slot;
  changed_[slot / kBlockSize] = 1;
  return std::move(removed.trajectory);
}

bool ItemStore::Summarize(size_t* block) {
  int num_read = 0;
  for (; *block < blocks_.size(); ++*block) {
    if (changed_[*block] == 0) continue;
    if (num_read++ == kBlocksAtOnce) return true;
    changed_[*block] = 0;
    PriorityStats& stats = stats_[*block];
    stats = PriorityStats();
    for (size_t i = 0; i < kBlockSize; ++i) {
      const ItemRow& row = blocks_[*block][i];
      if (row.trajectory) Add(row.priority, &stats);
    }
  }
  return false;
}

PriorityStats ItemStore::priorities() const {
  PriorityStats all;
  for (const PriorityStats& stats : stats_) {
    all.min = std::min(all.min, stats.min);
    all.min_positive = std::min(all.min_positive, stats.min_positive);
    all.max = std::max(all.max, stats.max);
    all.sum += stats.sum;
  }
  return all;
}

size_t ItemStore::memory_bytes() const {
  return slots_.memory_bytes() + blocks_.size() * kBlockSize * sizeof(ItemRow) +
         blocks_.capacity() * (sizeof(blocks_[0]) + sizeof(changed_[0]) + sizeof(stats_[0]));
}

}  // namespace reverb_tf::core

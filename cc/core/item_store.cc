#include "cc/core/item_store.h"

namespace reverb_tf::core {

std::pair<Slot, bool> ItemStore::FindOrAdd(uint64_t key) {
  const Slot slot = first_free_ != kNoSlot ? first_free_ : num_rows_;
  const auto [found, added] = slots_.Insert(key, slot);
  if (!added) return {*found, false};
  if (slot == first_free_) {
    first_free_ = static_cast<Slot>(row(slot).key);
  } else {
    if (slot / kBlockSize == blocks_.size()) {
      blocks_.push_back(std::make_unique<ItemRow[]>(kBlockSize));
    }
    ++num_rows_;
  }
  row(slot).key = key;
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
  return std::move(removed.trajectory);
}

size_t ItemStore::memory_bytes() const {
  return slots_.memory_bytes() + blocks_.size() * kBlockSize * sizeof(ItemRow) +
         blocks_.capacity() * sizeof(blocks_[0]);
}

}  // namespace reverb_tf::core

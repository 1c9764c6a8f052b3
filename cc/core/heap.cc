#include "cc/core/heap.h"

#include <cmath>

#include "cc/core/selector_errors.h"

namespace reverb_tf::core {

Heap::Heap(Order order)
    : options_{order == Order::kMin ? SelectorOptions::Kind::kMinHeap
                                    : SelectorOptions::Kind::kMaxHeap,
               1.0},
      sign_(order == Order::kMin ? 1.0 : -1.0) {}

Status Heap::CheckPriority(double priority) const { return CheckNotNan(priority); }

Status Heap::Insert(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
  if (Contains(slot)) return SlotHeldError(slot);
  if (slot >= positions_.size()) positions_.resize(size_t{slot} + 1, kNotHeld);
  entries_.emplace_back();
  SiftUp(static_cast<uint32_t>(entries_.size() - 1), MakeEntry(slot, priority));
  return OkStatus();
}

Status Heap::Delete(Slot slot) {
  if (!Contains(slot)) return SlotNotHeldError(slot);
  const uint32_t position = positions_[slot];
  positions_[slot] = kNotHeld;
  const Entry last = entries_.back();
  entries_.pop_back();
  if (last.slot != slot) Sift(position, last);
  return OkStatus();
}

Status Heap::Update(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
  if (!Contains(slot)) return SlotNotHeldError(slot);
  Sift(positions_[slot], MakeEntry(slot, priority));
  return OkStatus();
}

Result<Selector::Pick> Heap::Sample() {
  if (entries_.empty()) return EmptySelectorError();
  return Pick{entries_.front().slot, 1.0};
}

void Heap::Clear() {
  entries_.clear();
  positions_.clear();
}

size_t Heap::memory_bytes() const {
  return entries_.capacity() * sizeof(Entry) + positions_.capacity() * sizeof(uint32_t);
}

void Heap::SiftUp(uint32_t position, const Entry& entry) {
  while (position > 0) {
    const uint32_t parent = (position - 1) / 2;
    if (!entry.Before(entries_[parent])) break;
    Put(position, entries_[parent]);
    position = parent;
  }
  Put(position, entry);
}

void Heap::SiftDown(uint32_t position, const Entry& entry) {
  const size_t n = entries_.size();
  while (true) {
    size_t child = 2 * size_t{position} + 1;
    if (child >= n) break;
    if (child + 1 < n && entries_[child + 1].Before(entries_[child])) ++child;
    if (!entries_[child].Before(entry)) break;
    Put(position, entries_[child]);
    position = static_cast<uint32_t>(child);
  }
  Put(position, entry);
}

void Heap::Sift(uint32_t position, const Entry& entry) {
  if (position > 0 && entry.Before(entries_[(position - 1) / 2])) {
    SiftUp(position, entry);
  } else {
    SiftDown(position, entry);
  }
}

}  // namespace reverb_tf::core

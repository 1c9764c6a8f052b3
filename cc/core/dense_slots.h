// Slots at positions 0 .. n - 1, in no order.
#ifndef REVERB_TF_CORE_DENSE_SLOTS_H_
#define REVERB_TF_CORE_DENSE_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cc/core/selector.h"

namespace reverb_tf::core {

// Not thread-safe. Everything is O(1), growing amortised.
class DenseSlots {
 public:
  bool Contains(Slot slot) const {
    return slot < positions_.size() && positions_[slot] != kNotHeld;
  }
  Slot at(uint32_t position) const { return slots_[position]; }
  // The slot must be held.
  uint32_t position(Slot slot) const { return positions_[slot]; }

  // The slot must not be held; it takes the last position.
  void Append(Slot slot) {
    if (slot >= positions_.size()) positions_.resize(size_t{slot} + 1, kNotHeld);
    positions_[slot] = static_cast<uint32_t>(slots_.size());
    slots_.push_back(slot);
  }
  // The slot must be held. The slot of the last position takes its place, which is returned.
  uint32_t Remove(Slot slot) {
    const uint32_t position = positions_[slot];
    const Slot last = slots_.back();
    slots_[position] = last;
    positions_[last] = position;
    positions_[slot] = kNotHeld;
    slots_.pop_back();
    return position;
  }
  void Clear() {
    slots_.clear();
    positions_.clear();
  }

  size_t size() const { return slots_.size(); }
  size_t memory_bytes() const {
    return slots_.capacity() * sizeof(Slot) + positions_.capacity() * sizeof(uint32_t);
  }

 private:
  inline static constexpr uint32_t kNotHeld = 0xffffffff;

  std::vector<Slot> slots_;          // by position
  std::vector<uint32_t> positions_;  // by slot
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_DENSE_SLOTS_H_

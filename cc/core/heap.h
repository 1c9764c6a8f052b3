// Picks the item with the smallest, or the largest, priority.
#ifndef REVERB_TF_CORE_HEAP_H_
#define REVERB_TF_CORE_HEAP_H_

#include <cstdint>
#include <vector>

#include "cc/core/selector.h"

namespace reverb_tf::core {

// A binary heap in one array. Among equal priorities the item that was least recently inserted or
// updated is picked. Sample is O(1), the rest O(log n).
class Heap : public Selector {
 public:
  enum class Order { kMin, kMax };
  explicit Heap(Order order);

  Status CheckPriority(double priority) const override;
  Status Insert(Slot slot, double priority) override;
  Status Delete(Slot slot) override;
  Status Update(Slot slot, double priority) override;
  Result<Pick> Sample() override;
  void Prefetch(Slot slot) const override {
    if (slot < positions_.size()) __builtin_prefetch(&positions_[slot]);
  }
  void Clear() override;
  size_t size() const override { return entries_.size(); }
  size_t memory_bytes() const override;
  const SelectorOptions& options() const override { return options_; }

 private:
  struct Entry {
    double rank;     // smallest first: the priority, or its negative
    uint64_t stamp;  // of the last insertion or update
    Slot slot;

    bool Before(const Entry& other) const {
      return rank != other.rank ? rank < other.rank : stamp < other.stamp;
    }
  };
  inline static constexpr uint32_t kNotHeld = 0xffffffff;

  bool Contains(Slot slot) const {
    return slot < positions_.size() && positions_[slot] != kNotHeld;
  }
  Entry MakeEntry(Slot slot, double priority) { return {sign_ * priority, ++last_stamp_, slot}; }
  void Put(uint32_t position, const Entry& entry) {
    entries_[position] = entry;
    positions_[entry.slot] = position;
  }
  // Puts the entry where it belongs, beginning at the free `position`.
  void SiftUp(uint32_t position, const Entry& entry);
  void SiftDown(uint32_t position, const Entry& entry);
  void Sift(uint32_t position, const Entry& entry);

  const SelectorOptions options_;
  const double sign_;
  uint64_t last_stamp_ = 0;
  std::vector<Entry> entries_;
  std::vector<uint32_t> positions_;  // by slot
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_HEAP_H_

// Picks items with a probability in proportion to priority ** exponent.
#ifndef REVERB_TF_CORE_PRIORITIZED_H_
#define REVERB_TF_CORE_PRIORITIZED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/dense_slots.h"
#include "cc/core/random.h"
#include "cc/core/selector.h"
#include "cc/core/sum_tree.h"

namespace reverb_tf::core {

// Priority 0 has weight 0, whatever the exponent, and an item of weight 0 is never picked, unless
// all are: then each is picked with the same probability. Everything is O(log n).
class Prioritized : public Selector {
 public:
  // The exponent is finite.
  Prioritized(double exponent, std::optional<uint64_t> seed);

  // Refuses what is negative, not finite, or has a weight so large that a sum of weights may not be
  // finite.
  static Status CheckPriority(double priority, double exponent);
  Status CheckPriority(double priority) const override {
    return CheckPriority(priority, options_.priority_exponent);
  }
  Status Insert(Slot slot, double priority) override;
  Status Delete(Slot slot) override;
  Status Update(Slot slot, double priority) override;
  Result<Pick> Sample() override;
  Status SampleMany(Pick* picks, size_t n) override;
  void Prefetch(Slot slot) const override { weights_.Prefetch(slot); }
  void Clear() override;
  size_t size() const override { return slots_.size(); }
  size_t memory_bytes() const override;
  const SelectorOptions& options() const override { return options_; }

 private:
  // At most so many picks are made side by side.
  inline static constexpr size_t kGroup = 16;

  // NaN for a priority that has none.
  static double Weight(double priority, double exponent);
  bool IsHeld(Slot slot) const {
    return slot / 64 < held_.size() && ((held_[slot / 64] >> (slot % 64)) & 1) != 0;
  }
  void SampleGroup(Pick* picks, size_t n);

  const SelectorOptions options_;
  Random random_;
  DenseSlots slots_;            // for when all weights are zero
  std::vector<uint64_t> held_;  // a bit for each slot: so few bytes that they stay in the cache
  SumTree weights_;             // by slot; zero for slots that are not held
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_PRIORITIZED_H_

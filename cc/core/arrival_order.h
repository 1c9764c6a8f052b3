// Picks the oldest item (fifo) or the newest (lifo).
#ifndef REVERB_TF_CORE_ARRIVAL_ORDER_H_
#define REVERB_TF_CORE_ARRIVAL_ORDER_H_

#include "cc/core/linked_slots.h"
#include "cc/core/selector.h"

namespace reverb_tf::core {

// Priorities have no effect; updates do not change the order. Everything is O(1).
class ArrivalOrder : public Selector {
 public:
  // kFifo or kLifo.
  explicit ArrivalOrder(SelectorOptions::Kind kind) : options_{kind, 1.0} {}

  Status CheckPriority(double priority) const override;
  Status Insert(Slot slot, double priority) override;
  Status Delete(Slot slot) override;
  Status Update(Slot slot, double priority) override;
  Result<Pick> Sample() override;
  void Clear() override { slots_.Clear(); }
  size_t size() const override { return slots_.size(); }
  size_t memory_bytes() const override { return slots_.memory_bytes(); }
  const SelectorOptions& options() const override { return options_; }

 private:
  const SelectorOptions options_;
  LinkedSlots slots_;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_ARRIVAL_ORDER_H_

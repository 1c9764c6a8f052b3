#include "cc/core/arrival_order.h"

#include <cmath>

#include "cc/core/selector_errors.h"

namespace reverb_tf::core {

Status ArrivalOrder::CheckPriority(double priority) const { return CheckNotNan(priority); }

Status ArrivalOrder::Insert(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
  if (slots_.Contains(slot)) return SlotHeldError(slot);
  slots_.Append(slot);
  return OkStatus();
}

Status ArrivalOrder::Delete(Slot slot) {
  if (!slots_.Contains(slot)) return SlotNotHeldError(slot);
  slots_.Remove(slot);
  return OkStatus();
}

Status ArrivalOrder::Update(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
  return slots_.Contains(slot) ? OkStatus() : SlotNotHeldError(slot);
}

Result<Selector::Pick> ArrivalOrder::Sample() {
  if (slots_.size() == 0) return EmptySelectorError();
  const bool oldest_first = options_.kind == SelectorOptions::Kind::kFifo;
  return Pick{oldest_first ? slots_.oldest() : slots_.newest(), 1.0};
}

}  // namespace reverb_tf::core

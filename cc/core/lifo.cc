#include "cc/core/lifo.h"

#include <cmath>

#include "cc/core/selector_errors.h"

namespace reverb_tf::core {

Status Lifo::CheckPriority(double priority) const { return CheckNotNan(priority); }

Status Lifo::Insert(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
  if (slots_.Contains(slot)) return SlotHeldError(slot);
  slots_.Append(slot);
  return OkStatus();
}

Status Lifo::Delete(Slot slot) {
  if (!slots_.Contains(slot)) return SlotNotHeldError(slot);
  slots_.Remove(slot);
  return OkStatus();
}

Status Lifo::Update(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
  return slots_.Contains(slot) ? OkStatus() : SlotNotHeldError(slot);
}

Result<Selector::Pick> Lifo::Sample() {
  if (slots_.size() == 0) return EmptySelectorError();
  return Pick{slots_.newest(), 1.0};
}

}  // namespace reverb_tf::core

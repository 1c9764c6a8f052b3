#include "cc/core/uniform.h"

#include "cc/core/selector_errors.h"

namespace reverb_tf::core {

Status Uniform::CheckPriority(double priority) const { return CheckNotNan(priority); }

Status Uniform::Insert(Slot slot, double priority) {
  REVERB_TF_RETURN_IF_ERROR(CheckPriority(priority));
  if (slots_.Contains(slot)) return SlotHeldError(slot);
  slots_.Append(slot);
  return OkStatus();
}

Status Uniform::Delete(Slot slot) {
  if (!slots_.Contains(slot)) return SlotNotHeldError(slot);
  slots_.Remove(slot);
  return OkStatus();
}

Status Uniform::Update(Slot slot, double priority) {
  REVERB_TF_RETURN_IF_ERROR(CheckPriority(priority));
  return slots_.Contains(slot) ? OkStatus() : SlotNotHeldError(slot);
}

Result<Selector::Pick> Uniform::Sample() {
  const size_t n = slots_.size();
  if (n == 0) return EmptySelectorError();
  const uint32_t position = static_cast<uint32_t>(random_.Below(n));
  return Pick{slots_.at(position), 1.0 / static_cast<double>(n)};
}

}  // namespace reverb_tf::core

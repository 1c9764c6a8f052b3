#include "cc/core/uniform.h"

#include <cmath>

#include "cc/core/selector_errors.h"

namespace reverb_tf::core {

Status Uniform::CheckPriority(double priority) const { return CheckNotNan(priority); }

Status Uniform::Insert(Slot slot, double priority) {
  if (std::isnan(priority)) return CheckPriority(priority);
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
  if (std::isnan(priority)) return CheckPriority(priority);
  return slots_.Contains(slot) ? OkStatus() : SlotNotHeldError(slot);
}

Result<Selector::Pick> Uniform::Sample() {
  Pick pick;
  REVERB_TF_RETURN_IF_ERROR(SampleMany(&pick, 1));
  return pick;
}

Status Uniform::SampleMany(Pick* picks, size_t n) {
  const size_t size = slots_.size();
  if (size == 0) return EmptySelectorError();
  for (size_t i = 0; i < n; ++i) {
    picks[i] = {slots_.at(static_cast<uint32_t>(random_.Below(size))),
                1.0 / static_cast<double>(size)};
  }
  return OkStatus();
}

}  // namespace reverb_tf::core

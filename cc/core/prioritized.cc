#include "cc/core/prioritized.h"

#include <cmath>
#include <limits>
#include <string>

#include "cc/core/selector_errors.h"

namespace reverb_tf::core {
namespace {

// There are at most 2^32 slots: no sum of weights up to this overflows, rounded or not.
constexpr double kMaxWeight = std::numeric_limits<double>::max() * 0x1p-33;

}  // namespace

Prioritized::Prioritized(double exponent, std::optional<uint64_t> seed)
    : options_{SelectorOptions::Kind::kPrioritized, exponent}, random_(seed) {}

double Prioritized::Weight(double priority) const {
  if (priority == 0) return 0;
  if (options_.priority_exponent == 1) return priority;
  return std::pow(priority, options_.priority_exponent);
}

Status Prioritized::CheckPriority(double priority) const {
  if (!(priority >= 0) || std::isinf(priority)) {
    return InvalidArgumentError("Priority " + NumberText(priority) +
                                " cannot be used by a prioritized selector; expected a finite " +
                                "number of at least 0.");
  }
  const double weight = Weight(priority);
  if (weight <= kMaxWeight) return OkStatus();
  return InvalidArgumentError("Priority " + NumberText(priority) + " to the power of " +
                              NumberText(options_.priority_exponent) + " is " + NumberText(weight) +
                              ", too large for a prioritized selector; expected at most " +
                              NumberText(kMaxWeight) + ".");
}

Status Prioritized::Insert(Slot slot, double priority) {
  REVERB_TF_RETURN_IF_ERROR(CheckPriority(priority));
  if (slots_.Contains(slot)) return SlotHeldError(slot);
  slots_.Append(slot);
  weights_.Append(Weight(priority));
  return OkStatus();
}

Status Prioritized::Delete(Slot slot) {
  if (!slots_.Contains(slot)) return SlotNotHeldError(slot);
  const uint32_t position = slots_.Remove(slot);
  const size_t last = weights_.size() - 1;
  if (position != last) weights_.Set(position, weights_.weight(last));
  weights_.RemoveLast();
  return OkStatus();
}

Status Prioritized::Update(Slot slot, double priority) {
  REVERB_TF_RETURN_IF_ERROR(CheckPriority(priority));
  if (!slots_.Contains(slot)) return SlotNotHeldError(slot);
  weights_.Set(slots_.position(slot), Weight(priority));
  return OkStatus();
}

Result<Selector::Pick> Prioritized::Sample() {
  const size_t n = slots_.size();
  if (n == 0) return EmptySelectorError();
  const double total = weights_.total();
  if (!(total > 0)) {
    const uint32_t position = static_cast<uint32_t>(random_.Below(n));
    return Pick{slots_.at(position), 1.0 / static_cast<double>(n)};
  }
  const size_t position = weights_.Find(random_.Unit() * total);
  return Pick{slots_.at(static_cast<uint32_t>(position)), weights_.weight(position) / total};
}

void Prioritized::Clear() {
  slots_.Clear();
  weights_.Clear();
}

}  // namespace reverb_tf::core

#include "cc/core/prioritized.h"

#include <algorithm>
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

double Prioritized::Weight(double priority, double exponent) {
  if (priority == 0) return 0;
  if (!(priority > 0) || std::isinf(priority)) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 1) return priority;
  return std::pow(priority, exponent);
}

Status Prioritized::CheckPriority(double priority, double exponent) {
  const double weight = Weight(priority, exponent);
  if (weight <= kMaxWeight) return OkStatus();
  if (std::isnan(weight)) {
    return InvalidArgumentError("Priority " + NumberText(priority) +
                                " cannot be used by a prioritized selector; expected a finite " +
                                "number of at least 0.");
  }
  return InvalidArgumentError("Priority " + NumberText(priority) + " to the power of " +
                              NumberText(exponent) + " is " + NumberText(weight) +
                              ", too large for a prioritized selector; expected at most " +
                              NumberText(kMaxWeight) + ".");
}

Status Prioritized::Insert(Slot slot, double priority) {
  const double weight = Weight(priority, options_.priority_exponent);
  if (!(weight <= kMaxWeight)) return CheckPriority(priority);
  if (IsHeld(slot)) return SlotHeldError(slot);
  slots_.Append(slot);
  if (slot / 64 >= held_.size()) held_.resize(slot / 64 + 1);
  held_[slot / 64] |= uint64_t{1} << (slot % 64);
  weights_.Grow(size_t{slot} + 1);
  weights_.Set(slot, weight);
  return OkStatus();
}

Status Prioritized::Delete(Slot slot) {
  if (!IsHeld(slot)) return SlotNotHeldError(slot);
  slots_.Remove(slot);
  held_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  weights_.Set(slot, 0);
  return OkStatus();
}

Status Prioritized::Update(Slot slot, double priority) {
  const double weight = Weight(priority, options_.priority_exponent);
  if (!(weight <= kMaxWeight)) return CheckPriority(priority);
  if (!IsHeld(slot)) return SlotNotHeldError(slot);
  weights_.Set(slot, weight);
  return OkStatus();
}

Result<Selector::Pick> Prioritized::Sample() {
  Pick pick;
  REVERB_TF_RETURN_IF_ERROR(SampleMany(&pick, 1));
  return pick;
}

Status Prioritized::SampleMany(Pick* picks, size_t n) {
  const size_t size = slots_.size();
  if (size == 0) return EmptySelectorError();
  if (weights_.total() > 0) {
    for (size_t i = 0; i < n; i += kGroup) SampleGroup(picks + i, std::min(kGroup, n - i));
    return OkStatus();
  }
  for (size_t i = 0; i < n; ++i) {
    picks[i] = {slots_.at(static_cast<uint32_t>(random_.Below(size))),
                1.0 / static_cast<double>(size)};
  }
  return OkStatus();
}

void Prioritized::SampleGroup(Pick* picks, size_t n) {
  const double total = weights_.total();
  double targets[kGroup];
  size_t found[kGroup];
  for (size_t i = 0; i < n; ++i) targets[i] = random_.Unit() * total;
  weights_.FindMany(targets, found, n);
  for (size_t i = 0; i < n; ++i) {
    picks[i] = {static_cast<Slot>(found[i]), weights_.weight(found[i]) / total};
  }
}

void Prioritized::Clear() {
  slots_.Clear();
  held_.clear();
  weights_.Clear();
}

size_t Prioritized::memory_bytes() const {
  return slots_.memory_bytes() + held_.capacity() * sizeof(uint64_t) + weights_.memory_bytes();
}

}  // namespace reverb_tf::core

// What every selector says about wrong calls and values.
#ifndef REVERB_TF_CORE_SELECTOR_ERRORS_H_
#define REVERB_TF_CORE_SELECTOR_ERRORS_H_

#include <cmath>
#include <string>

#include "cc/core/number_text.h"
#include "cc/core/selector.h"

namespace reverb_tf::core {

inline Status SlotHeldError(Slot slot) {
  return InvalidArgumentError("Selector: slot " + std::to_string(slot) + " is held already.");
}
inline Status SlotNotHeldError(Slot slot) {
  return InvalidArgumentError("Selector: slot " + std::to_string(slot) + " is not held.");
}
inline Status EmptySelectorError() {
  return FailedPreconditionError("Selector: nothing to choose from, it is empty.");
}

// What selectors that only compare priorities, or ignore them, refuse.
inline Status CheckNotNan(double priority) {
  if (!std::isnan(priority)) return OkStatus();
  return InvalidArgumentError("Priority " + NumberText(priority) + " is not a number.");
}

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_SELECTOR_ERRORS_H_

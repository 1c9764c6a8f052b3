// How a call that can block is bounded.
#ifndef REVERB_TF_WAIT_H_
#define REVERB_TF_WAIT_H_

#include <chrono>
#include <functional>

namespace reverb_tf {

using Duration = std::chrono::nanoseconds;

// No limit.
inline constexpr Duration kInfiniteDuration = Duration::max();

// Given to every blocking call.
struct WaitOptions {
  // From the moment of the call; 0 = what can be had at once; kInfiniteDuration = no limit. On
  // expiry the call returns DEADLINE_EXCEEDED with a message that says what it waited for.
  Duration timeout = kInfiniteDuration;

  // If set, called on the waiting thread about every 0.1 s; true ends the call with CANCELLED. (The
  // Python binding looks for signals here.) Must not call back into the object that waits.
  std::function<bool()> interrupted;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_WAIT_H_

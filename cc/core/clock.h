// Time and deadlines, injected so that tests do not wait.
#ifndef REVERB_TF_CORE_CLOCK_H_
#define REVERB_TF_CORE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <functional>

namespace reverb_tf::core {

using TimePoint = std::chrono::steady_clock::time_point;
inline constexpr TimePoint kNoDeadline = TimePoint::max();

// Thread-safe.
class Clock {
 public:
  using TimerId = uint64_t;
  inline static constexpr TimerId kNoTimer = 0;

  virtual ~Clock() = default;

  virtual TimePoint Now() = 0;
  // Nanoseconds since the Unix epoch.
  virtual int64_t WallNanos() = 0;

  // Calls `callback` once, at `when` or soon after, on a thread of the clock; it must not block. A
  // time in the past means at once, but never inside this call.
  virtual TimerId CallAt(TimePoint when, std::function<void()> callback) = 0;
  // False when the callback has run, is running or is unknown. Does not wait for it.
  virtual bool Cancel(TimerId id) = 0;

  // The clock of the machine, with one timer thread started at first use. Never destroyed.
  static Clock* System();
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_CLOCK_H_

// A clock that stands still until a test advances it.
#ifndef REVERB_TF_CORE_TESTING_FAKE_CLOCK_H_
#define REVERB_TF_CORE_TESTING_FAKE_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "cc/core/clock.h"
#include "cc/core/mutex.h"

namespace reverb_tf::core {

// Thread-safe. Callbacks run on the thread that calls Advance.
class FakeClock : public Clock {
 public:
  TimePoint Now() override {
    MutexLock lock(&mu_);
    return now_;
  }
  int64_t WallNanos() override {
    MutexLock lock(&mu_);
    return kWallAtStart + std::chrono::nanoseconds(now_ - kStart).count();
  }
  TimerId CallAt(TimePoint when, std::function<void()> callback) override {
    MutexLock lock(&mu_);
    timers_.emplace(std::pair(when, ++last_id_), std::move(callback));
    return last_id_;
  }
  bool Cancel(TimerId id) override {
    std::function<void()> callback;  // destroyed without the lock
    MutexLock lock(&mu_);
    for (auto timer = timers_.begin(); timer != timers_.end(); ++timer) {
      if (timer->first.second != id) continue;
      callback = std::move(timer->second);
      timers_.erase(timer);
      return true;
    }
    return false;
  }

  // Moves the time and calls what is due, in order.
  void Advance(std::chrono::nanoseconds by) {
    {
      MutexLock lock(&mu_);
      now_ += by;
    }
    while (std::function<void()> callback = TakeDue()) callback();
  }
  size_t num_timers() {
    MutexLock lock(&mu_);
    return timers_.size();
  }

  inline static constexpr int64_t kWallAtStart = 1'000'000'000;

 private:
  inline static constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));

  std::function<void()> TakeDue() {
    MutexLock lock(&mu_);
    if (timers_.empty() || timers_.begin()->first.first > now_) return nullptr;
    std::function<void()> callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    return callback;
  }

  Mutex mu_;
  TimePoint now_ GUARDED_BY(mu_) = kStart;
  TimerId last_id_ GUARDED_BY(mu_) = kNoTimer;
  std::map<std::pair<TimePoint, TimerId>, std::function<void()>> timers_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TESTING_FAKE_CLOCK_H_

#include "cc/core/clock.h"

#include <pthread.h>

#include <atomic>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>

#include "cc/core/mutex.h"

namespace reverb_tf::core {
namespace {

// Timers in the order of their times, and the thread that calls them.
class TimerThread {
 public:
  Clock::TimerId Add(TimePoint when, std::function<void()> callback) {
    MutexLock lock(&mu_);
    const Clock::TimerId id = ++last_id_;
    const auto timer = timers_.emplace(std::pair(when, id), std::move(callback)).first;
    times_.emplace(id, when);
    if (!started_) {
      started_ = true;
      std::thread([this] { Run(); }).detach();
    } else if (timer == timers_.begin()) {
      earlier_.NotifyOne();
    }
    return id;
  }

  bool Cancel(Clock::TimerId id) {
    std::function<void()> callback;  // destroyed without the lock
    MutexLock lock(&mu_);
    const auto time = times_.find(id);
    if (time == times_.end()) return false;
    const auto timer = timers_.find({time->second, id});
    callback = std::move(timer->second);
    timers_.erase(timer);
    times_.erase(time);
    return true;
  }

 private:
  [[noreturn]] void Run() {
    while (true) NextDue()();
  }

  std::function<void()> NextDue() {
    MutexLock lock(&mu_);
    while (true) {
      if (timers_.empty()) {
        earlier_.Wait(&mu_);
        continue;
      }
      const auto first = timers_.begin();
      const TimePoint when = first->first.first;
      if (when > std::chrono::steady_clock::now()) {
        earlier_.WaitUntil(&mu_, when);
        continue;
      }
      std::function<void()> callback = std::move(first->second);
      times_.erase(first->first.second);
      timers_.erase(first);
      return callback;
    }
  }

  Mutex mu_;
  CondVar earlier_;  // the first timer has changed
  bool started_ GUARDED_BY(mu_) = false;
  Clock::TimerId last_id_ GUARDED_BY(mu_) = Clock::kNoTimer;
  std::map<std::pair<TimePoint, Clock::TimerId>, std::function<void()>> timers_ GUARDED_BY(mu_);
  std::unordered_map<Clock::TimerId, TimePoint> times_ GUARDED_BY(mu_);
};

class SystemClock : public Clock {
 public:
  SystemClock() : timers_(new TimerThread) {}

  TimePoint Now() override { return std::chrono::steady_clock::now(); }
  int64_t WallNanos() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  TimerId CallAt(TimePoint when, std::function<void()> callback) override {
    return timers_.load(std::memory_order_acquire)->Add(when, std::move(callback));
  }
  bool Cancel(TimerId id) override { return timers_.load(std::memory_order_acquire)->Cancel(id); }

  // A forked child has neither the thread nor, perhaps, a lock that anybody will release: it starts
  // afresh. The parent's timers are not its own and are left where they are.
  void StartAfresh() { timers_.store(new TimerThread, std::memory_order_release); }

 private:
  std::atomic<TimerThread*> timers_;
};

SystemClock* GlobalSystemClock() {
  static SystemClock* const clock = [] {
    pthread_atfork(nullptr, nullptr, [] { GlobalSystemClock()->StartAfresh(); });
    return new SystemClock;
  }();
  return clock;
}

}  // namespace

Clock* Clock::System() { return GlobalSystemClock(); }

}  // namespace reverb_tf::core

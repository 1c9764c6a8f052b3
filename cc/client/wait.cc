#include "cc/client/wait.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cc/client/log.h"
#include "cc/core/number_text.h"

namespace reverb_tf::client {
namespace {

// How often a waiting thread looks around. Real time: a fake clock's time is looked at as often.
constexpr auto kSlice = std::chrono::milliseconds(100);
constexpr auto kRefreshPeriod = std::chrono::seconds(5);
constexpr auto kLogAfter = std::chrono::seconds(10);

Status TimeoutError(const WaitOptions& wait, WaitSubject* subject) {
  return DeadlineExceededError("Timeout exceeded after " + DurationText(wait.timeout) +
                               " (Deadline Exceeded): " + subject->Describe());
}

}  // namespace

core::TimePoint DeadlineAfter(core::TimePoint now, Duration timeout) {
  if (timeout >= core::kNoDeadline - now) return core::kNoDeadline;
  return now + std::max(timeout, Duration::zero());
}

std::string DurationText(Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds != 0 && seconds < 1) return core::NumberText(seconds * 1e3) + " ms";
  return core::NumberText(seconds) + " s";
}

Status BlockUntil(Mutex* mu, CondVar* cv, core::Clock* clock, const WaitOptions& wait,
                  WaitSubject* subject, const std::function<bool()>& done) {
  if (done()) return OkStatus();
  const core::TimePoint start = clock->Now();
  const core::TimePoint deadline = DeadlineAfter(start, wait.timeout);
  // Early enough for a short wait to know the answer when it ends.
  core::TimePoint next_refresh = start + std::min<Duration>(kSlice, wait.timeout / 2);
  bool logged = false;
  for (core::TimePoint now = start;; now = clock->Now()) {
    const bool interrupted = [&]() NO_THREAD_SAFETY_ANALYSIS {
      const bool refresh = now >= next_refresh;
      const bool log = !logged && now >= start + kLogAfter;
      if (!refresh && !log && !wait.interrupted) return false;
      mu->Unlock();
      const bool stop = wait.interrupted && wait.interrupted();
      if (refresh) subject->Refresh();
      if (log) LogWarning("still waiting after 10 s: " + subject->Describe());
      mu->Lock();
      if (refresh) next_refresh = now + kRefreshPeriod;
      logged = logged || log;
      return stop;
    }();
    if (done()) return OkStatus();
    if (interrupted || now >= deadline) {
      mu->Unlock();
      Status status = interrupted ? CancelledError("Interrupted: " + subject->Describe())
                                  : TimeoutError(wait, subject);
      mu->Lock();
      return done() ? OkStatus() : status;
    }
    const Duration slice = std::min<Duration>({kSlice, deadline - now, next_refresh - now});
    cv->WaitUntil(mu, std::chrono::steady_clock::now() + slice);
    if (done()) return OkStatus();
  }
}

}  // namespace reverb_tf::client

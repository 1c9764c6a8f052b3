// How often, and for how long, a lost connection is tried again.
#ifndef REVERB_TF_CLIENT_RETRY_H_
#define REVERB_TF_CLIENT_RETRY_H_

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "cc/client/wait.h"
#include "cc/core/clock.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::client {

// Counts failures in a row. Not thread-safe.
class Retry {
 public:
  // After a server has said that it stops, its successor is waited for no longer than
  // `stop_patience`.
  Retry(Duration patience, Duration stop_patience)
      : patience_(patience), stop_patience_(stop_patience), limit_(patience) {}

  // Something came through: the next failure is the first one again.
  void Reset() {
    since_.reset();
    stopped_ = false;
    limit_ = patience_;
    pause_ = kFirstPause;
  }

  // After a failure at `now`: when to try again; nullopt when patience has run out since the first
  // failure.
  std::optional<core::TimePoint> NextTry(core::TimePoint now, const Status& cause) {
    if (!since_) since_ = now;
    const Duration spent = now - *since_;
    // What the server ends itself, it ends because it stops; a lost connection is UNAVAILABLE.
    if (cause.code() == StatusCode::kCancelled && !stopped_) {
      stopped_ = true;
      if (stop_patience_ < limit_ - spent) limit_ = spent + stop_patience_;
    }
    if (spent >= limit_) return std::nullopt;
    const Duration pause = std::min<Duration>(pause_, limit_ - spent);
    pause_ = std::min<Duration>(2 * pause_, kLongestPause);
    return now + pause;
  }

  bool in_trouble() const { return since_.has_value(); }

  // UNAVAILABLE, naming the server and the last cause.
  Status Exhausted(const std::string& address, const Status& cause) const {
    return UnavailableError("Server " + address + (stopped_ ? " was stopped and" : "") +
                            " cannot be reached: " + cause.message() + " (tried again for " +
                            DurationText(limit_) + ")");
  }

 private:
  inline static constexpr Duration kFirstPause = std::chrono::milliseconds(10);
  inline static constexpr Duration kLongestPause = std::chrono::seconds(1);

  const Duration patience_;
  const Duration stop_patience_;
  bool stopped_ = false;
  Duration limit_;
  std::optional<core::TimePoint> since_;
  Duration pause_ = kFirstPause;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_RETRY_H_

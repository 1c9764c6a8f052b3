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
  explicit Retry(Duration patience) : patience_(patience) {}

  // Something came through: the next failure is the first one again.
  void Reset() {
    since_.reset();
    pause_ = kFirstPause;
  }

  // After a failure at `now`: when to try again; nullopt when patience has run out since the first
  // failure.
  std::optional<core::TimePoint> NextTry(core::TimePoint now) {
    if (!since_) since_ = now;
    if (now - *since_ >= patience_) return std::nullopt;
    const Duration pause = std::min<Duration>(pause_, patience_ - (now - *since_));
    pause_ = std::min<Duration>(2 * pause_, kLongestPause);
    return now + pause;
  }

  bool in_trouble() const { return since_.has_value(); }

  // UNAVAILABLE, naming the server and the last cause.
  Status Exhausted(const std::string& address, const Status& cause) const {
    return UnavailableError("Server " + address + " cannot be reached: " + cause.message() +
                            " (tried again for " + DurationText(patience_) + ")");
  }

 private:
  inline static constexpr Duration kFirstPause = std::chrono::milliseconds(10);
  inline static constexpr Duration kLongestPause = std::chrono::seconds(1);

  const Duration patience_;
  std::optional<core::TimePoint> since_;
  Duration pause_ = kFirstPause;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_RETRY_H_

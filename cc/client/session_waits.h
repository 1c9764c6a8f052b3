// Callers that wait for a session without a thread each.
#ifndef REVERB_TF_CLIENT_SESSION_WAITS_H_
#define REVERB_TF_CLIENT_SESSION_WAITS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cc/core/clock.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::client {

// Not thread-safe. Calls no callback: it hands them out.
class SessionWaits {
 public:
  using Callback = std::function<void(Status)>;
  // Instead of a number of unconfirmed items: room for more of them.
  inline static constexpr int64_t kRoom = -1;

  struct Wait {
    int64_t max_unconfirmed = 0;  // or kRoom
    std::string what;             // who waits, as in "Flush()"
    Duration timeout = kInfiniteDuration;
    Callback callback;
    core::TimePoint since = {};
    core::Clock::TimerId timer = core::Clock::kNoTimer;  // for the timeout
    bool told = false;                                   // that it takes long
  };

  bool empty() const { return waits_.empty(); }

  // Returns its number; never 0.
  uint64_t Add(Wait wait) {
    waits_.emplace(++last_, std::move(wait));
    return last_;
  }

  // Null when it does not wait any more.
  Wait* Find(uint64_t number) {
    const auto found = waits_.find(number);
    return found == waits_.end() ? nullptr : &found->second;
  }

  // Empty when it does not wait any more.
  std::vector<Wait> Take(uint64_t number) {
    std::vector<Wait> taken;
    const auto found = waits_.find(number);
    if (found == waits_.end()) return taken;
    taken.push_back(std::move(found->second));
    waits_.erase(found);
    return taken;
  }

  // Those whose wait is over, in the order in which they came.
  std::vector<Wait> TakeReady(int64_t unconfirmed, bool full) {
    std::vector<Wait> ready;
    for (auto it = waits_.begin(); it != waits_.end();) {
      const int64_t most = it->second.max_unconfirmed;
      if (most == kRoom ? full : unconfirmed > most) {
        ++it;
        continue;
      }
      ready.push_back(std::move(it->second));
      it = waits_.erase(it);
    }
    return ready;
  }

  std::vector<Wait> TakeAll() {
    std::vector<Wait> all;
    for (auto& entry : waits_) all.push_back(std::move(entry.second));
    waits_.clear();
    return all;
  }

  // The one that has waited for longest of those that were not told so; null if there is none.
  Wait* Oldest() {
    for (auto& entry : waits_) {
      if (!entry.second.told) return &entry.second;
    }
    return nullptr;
  }

 private:
  std::map<uint64_t, Wait> waits_;
  uint64_t last_ = 0;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_SESSION_WAITS_H_

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
    core::TimePoint since;
    Callback callback;
    bool told = false;  // that it takes long
  };

  bool empty() const { return waits_.empty(); }

  // Returns its number; never 0.
  uint64_t Add(Wait wait) {
    waits_.emplace(++last_, std::move(wait));
    return last_;
  }

  // Null when it does not wait any more.
  Callback Take(uint64_t number) {
    const auto found = waits_.find(number);
    if (found == waits_.end()) return nullptr;
    Callback callback = std::move(found->second.callback);
    waits_.erase(found);
    return callback;
  }

  // Those whose wait is over, in the order in which they came.
  std::vector<Callback> TakeReady(int64_t unconfirmed, bool full) {
    std::vector<Callback> ready;
    for (auto it = waits_.begin(); it != waits_.end();) {
      const int64_t most = it->second.max_unconfirmed;
      if (most == kRoom ? full : unconfirmed > most) {
        ++it;
        continue;
      }
      ready.push_back(std::move(it->second.callback));
      it = waits_.erase(it);
    }
    return ready;
  }

  std::vector<Callback> TakeAll() {
    std::vector<Callback> all;
    for (auto& entry : waits_) all.push_back(std::move(entry.second.callback));
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

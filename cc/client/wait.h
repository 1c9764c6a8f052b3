// The one way in which calls of the client block.
#ifndef REVERB_TF_CLIENT_WAIT_H_
#define REVERB_TF_CLIENT_WAIT_H_

#include <functional>
#include <string>

#include "cc/core/clock.h"
#include "cc/core/mutex.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::client {

// Says what a call waits for. Called on the waiting thread without locks; must not block.
class WaitSubject {
 public:
  virtual ~WaitSubject() = default;
  // Starts to find out more (asks the server, say). Called after about 0.1 s of waiting, or half of
  // a timeout that is shorter than twice that, then every 5 s.
  virtual void Refresh() {}
  // For example "Flush() of the writer of localhost:8000 waits for 3 items: <why>".
  virtual std::string Describe() = 0;
};

// Blocks until `done` (called with `mu` held) is true: OK. Or, as `wait` says: DEADLINE_EXCEEDED
// "Timeout exceeded ...", with the subject's description; CANCELLED "... interrupted". Whoever
// makes `done` true must notify `cv`. After 10 s the subject's description is logged, once. `mu` is
// released while waiting. Time is the clock's.
Status BlockUntil(Mutex* mu, CondVar* cv, core::Clock* clock, const WaitOptions& wait,
                  WaitSubject* subject, const std::function<bool()>& done) REQUIRES(mu);

// now + timeout, without overflow; kNoDeadline for timeouts that are as good as infinite.
core::TimePoint DeadlineAfter(core::TimePoint now, Duration timeout);

// "1.5 s", "20 ms".
std::string DurationText(Duration duration);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_WAIT_H_

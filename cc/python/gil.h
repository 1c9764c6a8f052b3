// Releasing the GIL around calls that may block, and looking for signals while they do.
#ifndef REVERB_TF_PYTHON_GIL_H_
#define REVERB_TF_PYTHON_GIL_H_

#include <nanobind/nanobind.h>

#include <utility>

#include "reverb_tf/wait.h"

namespace reverb_tf::python {

// Releases the GIL from construction to Reacquire() (or destruction).
//
// A thread that wants the GIL back while the interpreter shuts down would be ended by Python (up
// to 3.13) in the middle of C++ frames, which aborts the process; it sleeps for ever here instead,
// until the process is gone.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease() { Reacquire(); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

  void Reacquire();

  // Takes the GIL for a moment and runs pending signal handlers. True if one raised: its exception
  // stays set in this thread, to be thrown after Reacquire(). True as well when the interpreter
  // shuts down.
  bool SignalRaised();

 private:
  PyThreadState* state_;
  bool was_finalizing_;
};

// Runs `call(const WaitOptions&)` without the GIL, bounded by `timeout` and by Ctrl-C. What a
// signal handler raises (KeyboardInterrupt) is thrown here and the result of the call dropped.
template <typename Call>
auto RunBlocking(Duration timeout, Call&& call) {
  GilRelease release;
  bool raised = false;
  WaitOptions wait;
  wait.timeout = timeout;
  wait.interrupted = [&release, &raised] { return raised = raised || release.SignalRaised(); };
  auto result = std::forward<Call>(call)(static_cast<const WaitOptions&>(wait));
  release.Reacquire();
  if (raised) throw nanobind::python_error();
  return result;
}

// Seconds (a number >= 0) or None (no limit). ValueError for a negative or NaN number, TypeError
// for anything else.
Duration TimeoutFromSeconds(nanobind::handle seconds);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_GIL_H_

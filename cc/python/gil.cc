#include "cc/python/gil.h"

#include <unistd.h>

#include "cc/python/errors.h"

namespace nb = nanobind;

namespace reverb_tf::python {
namespace {

bool InterpreterIsFinalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

[[noreturn]] void SleepForEver() {
  for (;;) pause();
}

void TakeGil(PyThreadState* state, bool was_finalizing) {
  if (!was_finalizing && InterpreterIsFinalizing()) SleepForEver();
  try {
    PyEval_RestoreThread(state);
  } catch (...) {  // the forced unwinding of pthread_exit(): must not go on
    SleepForEver();
  }
}

}  // namespace

GilRelease::GilRelease() : was_finalizing_(InterpreterIsFinalizing()) {
  state_ = PyEval_SaveThread();
}

void GilRelease::Reacquire() {
  if (state_ == nullptr) return;
  TakeGil(std::exchange(state_, nullptr), was_finalizing_);
}

bool GilRelease::SignalRaised() {
  if (!was_finalizing_ && InterpreterIsFinalizing()) return true;
  TakeGil(state_, was_finalizing_);
  bool raised = PyErr_CheckSignals() != 0;
  state_ = PyEval_SaveThread();
  return raised;
}

Duration TimeoutFromSeconds(nb::handle seconds) {
  if (seconds.is_none()) return kInfiniteDuration;
  double value = PyFloat_AsDouble(seconds.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    ThrowPython(PyExc_TypeError, "timeout must be a number of seconds or None (no limit), got " +
                                     ShortRepr(seconds.ptr()) + ".");
  }
  if (!(value >= 0.0)) {
    ThrowPython(PyExc_ValueError, "timeout must be >= 0 seconds or None (no limit), got " +
                                      ShortRepr(seconds.ptr()) + ".");
  }
  constexpr double kMaxSeconds = 9.0e9;  // what fits into nanoseconds
  if (value >= kMaxSeconds) return kInfiniteDuration;
  return std::chrono::nanoseconds(static_cast<int64_t>(value * 1e9));
}

}  // namespace reverb_tf::python

// Status -> Python exception.
#ifndef REVERB_TF_PYTHON_ERRORS_H_
#define REVERB_TF_PYTHON_ERRORS_H_

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "reverb_tf/status.h"

namespace reverb_tf::python {

// Throws the class of reverb_tf.errors that stands for the status' code, with its message. Needs
// the GIL.
[[noreturn]] void ThrowStatus(const Status& status);

inline void ThrowIfError(const Status& status) {
  if (!status.ok()) ThrowStatus(status);
}

template <typename T>
T ValueOrThrow(Result<T> result) {
  if (!result.ok()) ThrowStatus(result.status());
  return std::move(result).value();
}

// Throws `type` (PyExc_TypeError, ...) with a UTF-8 text.
[[noreturn]] void ThrowPython(PyObject* type, const std::string& message);

// "'list'": the name of the object's class, for error texts.
std::string TypeName(PyObject* object);

// repr(object), cut to a length that suits an error text; never fails.
std::string ShortRepr(PyObject* object);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_ERRORS_H_

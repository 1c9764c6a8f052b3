#include "cc/python/arguments.h"

#include "cc/python/errors.h"
#include "cc/python/numpy_api.h"

namespace nb = nanobind;

namespace reverb_tf::python {

std::string TextArgument(nb::handle value, const char* name) {
  Py_ssize_t size = 0;
  const char* text =
      PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
  if (text != nullptr) return {text, static_cast<size_t>(size)};
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  ThrowPython(PyExc_TypeError, std::string(name) + " must be a str, got " + ShortRepr(value.ptr()) +
                                   " (" + TypeName(value.ptr()) + ").");
}

uint64_t KeyArgument(nb::handle value) { return Uint64Argument(value, "A key"); }

uint64_t Uint64Argument(nb::handle value, const char* name) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  uint64_t number = index.is_valid() ? PyLong_AsUnsignedLongLong(index.ptr()) : 0;
  if (index.is_valid() && PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  ThrowPython(PyExc_TypeError, std::string(name) + " must be an int from 0 to 2**64 - 1, got " +
                                   ShortRepr(value.ptr()) + ".");
}

int32_t Int32Argument(nb::handle value, const char* name) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  int64_t number = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : 0;
  if (index.is_valid() && PyErr_Occurred() == nullptr && number == static_cast<int32_t>(number))
    return static_cast<int32_t>(number);
  PyErr_Clear();
  ThrowPython(PyExc_TypeError,
              std::string(name) + " must be a 32-bit int, got " + ShortRepr(value.ptr()) + ".");
}

double PriorityArgument(nb::handle value) {
  double priority = PyFloat_AsDouble(value.ptr());
  if (priority != -1.0 || PyErr_Occurred() == nullptr) return priority;
  PyErr_Clear();
  ThrowPython(PyExc_TypeError, "A priority must be a float, got " + ShortRepr(value.ptr()) + ".");
}

std::vector<double> PriorityArguments(nb::handle values, int64_t count) {
  if (PyFloat_Check(values.ptr()) || PyLong_Check(values.ptr()))
    return std::vector<double>(static_cast<size_t>(count), PriorityArgument(values));
  nb::object array = nb::steal(PyArray_FROM_O(values.ptr()));
  if (!array.is_valid()) nb::raise_python_error();
  auto* given = reinterpret_cast<PyArrayObject*>(array.ptr());
  bool numbers = PyArray_ISINTEGER(given) || PyArray_ISFLOAT(given);
  if (!numbers || PyArray_NDIM(given) > 1) {
    ThrowPython(PyExc_TypeError, "priorities must be a number or a number for each step, got " +
                                     ShortRepr(values.ptr()) + ".");
  }
  nb::object doubles = nb::steal(
      PyArray_FROM_OTF(array.ptr(), NPY_DOUBLE, NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST));
  if (!doubles.is_valid()) nb::raise_python_error();
  auto* converted = reinterpret_cast<PyArrayObject*>(doubles.ptr());
  const auto* first = static_cast<const double*>(PyArray_DATA(converted));
  if (PyArray_NDIM(converted) == 0) return std::vector<double>(static_cast<size_t>(count), *first);
  return {first, first + PyArray_DIM(converted, 0)};
}

}  // namespace reverb_tf::python

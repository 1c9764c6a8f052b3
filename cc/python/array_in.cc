#include "cc/python/array_in.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "cc/python/dlpack_in.h"
#include "cc/python/dtypes.h"
#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

constexpr char kAccepted[] =
    "Accepted are bool, int8 to int64, uint8 to uint64, float16, float32, float64, complex64, "
    "complex128, the ml_dtypes types bfloat16, float8_e5m2, float8_e4m3fn, float8_e4m3fnuz, "
    "float8_e4m3b11fnuz, float8_e5m2fnuz, float4_e2m1fn, int2, uint2, int4 and uint4, and bytes or "
    "str elements.";

static_assert(sizeof(npy_intp) == sizeof(int64_t), "shapes are viewed in place");

[[noreturn]] void RefuseDType(PyArrayObject* array) {
  nb::handle descr(reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
  ThrowPython(PyExc_TypeError,
              "Cannot store an array of dtype " + ShortRepr(descr.ptr()) + ". " + kAccepted);
}

bool HasAttribute(PyObject* object, const char* name) {
  nb::object value =
      nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name));
  if (!value.is_valid()) PyErr_Clear();
  return value.is_valid();
}

// Throws a TypeError that names the value, with `cause` as its cause.
[[noreturn]] void RefuseConversion(PyObject* value, nb::python_error cause) {
  std::string text = "Cannot convert " + ShortRepr(value) + " (" + TypeName(value) +
                     ") to an array: " + nb::cast<std::string>(nb::str(cause.value())) + " " +
                     kAccepted;
  cause.restore();
  nb::chain_error(PyExc_TypeError, "%s", text.c_str());
  throw nb::python_error();
}

// np.asarray(value), or np.from_dlpack(value) for what only speaks DLPack. Throws what numpy
// raises, as a TypeError.
nb::object ToArray(PyObject* value) {
  nb::object array;
  if (!HasAttribute(value, "__array__") && HasAttribute(value, "__dlpack__")) {
    array = nb::steal(
        PyObject_CallMethod(nb::module_::import_("numpy").ptr(), "from_dlpack", "O", value));
  } else {
    array = nb::steal(PyArray_FROM_O(value));
  }
  if (array.is_valid()) return array;
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
    nb::raise_python_error();
  nb::python_error cause;
  array = ArrayFromDLPack(value);
  if (!array.is_valid()) RefuseConversion(value, std::move(cause));
  return array;
}

// Of numpy's most used scalars; kInvalid for other objects.
DType NumpyScalarDType(PyObject* value) {
  const PyTypeObject* const type = Py_TYPE(value);
  if (type == &PyFloat32ArrType_Type) return DType::kFloat32;
  if (type == &PyFloat64ArrType_Type) return DType::kFloat64;
  if (type == &PyInt64ArrType_Type) return DType::kInt64;
  if (type == &PyInt32ArrType_Type) return DType::kInt32;
  if (type == &PyUInt8ArrType_Type) return DType::kUint8;
  if (type == &PyBoolArrType_Type) return DType::kBool;
  return DType::kInvalid;
}

bool IsMasked(PyArrayObject* array) {
  if (PyArray_CheckExact(array)) return false;
  return TypeName(reinterpret_cast<PyObject*>(array)) == "'MaskedArray'";
}

}  // namespace

void ArrayViews::Clear() {
  views_.clear();
  keep_.clear();
  scalars_.clear();
  strings_.clear();
  num_bytes_ = 0;
}

void ArrayViews::Push(DType dtype, int rank, const int64_t* dims, const void* data) {
  TensorView view;
  view.dtype = dtype;
  view.rank = rank;
  view.dims = dims;
  view.data = data;
  views_.push_back(view);
  num_bytes_ += view.num_bytes();
}

void ArrayViews::AddAbsent() { views_.emplace_back(); }

// Puts the path in front of a TypeError's text.
void ArrayViews::NamePath(const nb::python_error& error, nb::handle path) {
  if (!error.matches(PyExc_TypeError) || nb::len(path) == 0) return;
  nb::object text = nb::str(error.value());
  error.value().attr("args") =
      nb::make_tuple(nb::str("Field {}: {}").attr("format")(nb::repr(path), text));
}

void ArrayViews::Add(PyObject* value) {
  if (PyArray_Check(value)) {
    AddArray(nb::borrow(value));
  } else if (!AddScalar(value)) {
    nb::object array = ToArray(value);
    auto* converted = reinterpret_cast<PyArrayObject*>(array.ptr());
    if (PyArray_TYPE(converted) == NPY_OBJECT && PyArray_NDIM(converted) == 0) {
      ThrowPython(PyExc_TypeError, "Cannot convert " + ShortRepr(value) + " (" + TypeName(value) +
                                       ") to an array. " + kAccepted);
    }
    AddArray(std::move(array));
  }
}

// Scalars without making an array of them. False: not one of those (or an integer beyond int64).
bool ArrayViews::AddScalar(PyObject* value) {
  DType dtype;
  Scalar scalar;
  if (PyFloat_CheckExact(value)) {
    dtype = DType::kFloat64;
    scalar.f64 = PyFloat_AS_DOUBLE(value);
  } else if (PyBool_Check(value)) {
    dtype = DType::kBool;
    scalar.b = value == Py_True;
  } else if (PyLong_CheckExact(value)) {
    int overflow = 0;
    dtype = DType::kInt64;
    scalar.i64 = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return false;
  } else if (PyComplex_CheckExact(value)) {
    Py_complex number = PyComplex_AsCComplex(value);
    dtype = DType::kComplex128;
    scalar.c128[0] = number.real;
    scalar.c128[1] = number.imag;
  } else if (PyBytes_Check(value) || PyUnicode_Check(value)) {
    AddText(nb::borrow(value));
    return true;
  } else if (value == Py_None) {
    ThrowPython(PyExc_TypeError, std::string("None is not an array. ") + kAccepted);
  } else if ((dtype = NumpyScalarDType(value)) != DType::kInvalid) {
    PyArray_ScalarAsCtype(value, &scalar);
  } else {
    return false;
  }
  scalars_.push_back(scalar);
  Push(dtype, 0, nullptr, &scalars_.back());
  return true;
}

std::string_view ArrayViews::ViewText(PyObject* value) {
  Py_ssize_t size = 0;
  if (PyBytes_Check(value))
    return {PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value))};
  if (PyUnicode_Check(value)) {
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);  // cached in the object
    if (text == nullptr) nb::raise_python_error();
    return {text, static_cast<size_t>(size)};
  }
  ThrowPython(PyExc_TypeError, "Elements of an array of objects must be bytes or str, got " +
                                   ShortRepr(value) + " (" + TypeName(value) + ").");
}

void ArrayViews::AddText(nb::object bytes_or_str) {
  strings_.emplace_back();
  strings_.back().push_back(ViewText(bytes_or_str.ptr()));
  num_bytes_ += strings_.back()[0].size();
  keep_.push_back(std::move(bytes_or_str));
  Push(DType::kString, 0, nullptr, strings_.back().data());
}

void ArrayViews::AddStringArray(PyArrayObject* array) {
  strings_.emplace_back();
  std::vector<std::string_view>& views = strings_.back();
  views.reserve(static_cast<size_t>(PyArray_SIZE(array)));
  nb::object iterator =
      nb::steal(PyArray_IterNew(reinterpret_cast<PyObject*>(array)));  // in row-major order
  if (!iterator.is_valid()) nb::raise_python_error();
  while (PyArray_ITER_NOTDONE(iterator.ptr())) {
    nb::object element =
        nb::steal(PyArray_GETITEM(array, static_cast<char*>(PyArray_ITER_DATA(iterator.ptr()))));
    if (!element.is_valid()) nb::raise_python_error();
    views.push_back(ViewText(element.ptr()));
    num_bytes_ += views.back().size();
    keep_.push_back(std::move(element));
    PyArray_ITER_NEXT(iterator.ptr());
  }
  Push(DType::kString, PyArray_NDIM(array), reinterpret_cast<const int64_t*>(PyArray_DIMS(array)),
       views.data());
}

void ArrayViews::AddArray(nb::object object) {
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  DType dtype = DTypeOfDescr(PyArray_DESCR(array));
  if (dtype == DType::kInvalid) RefuseDType(array);
  if (IsMasked(array)) {
    ThrowPython(PyExc_TypeError,
                "Cannot store a masked array: its mask would be lost. Give its data and mask as "
                "two arrays.");
  }
  if (dtype != DType::kString && !(PyArray_ISCARRAY_RO(array) && PyArray_ISNOTSWAPPED(array))) {
    PyArray_Descr* native = PyArray_DescrNewByteorder(PyArray_DESCR(array), NPY_NATIVE);
    if (native == nullptr) nb::raise_python_error();
    object = nb::steal(PyArray_FromArray(
        array, native, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED));
    if (!object.is_valid()) nb::raise_python_error();
    array = reinterpret_cast<PyArrayObject*>(object.ptr());
  }
  if (dtype == DType::kString) {
    AddStringArray(array);
  } else {
    Push(dtype, PyArray_NDIM(array), reinterpret_cast<const int64_t*>(PyArray_DIMS(array)),
         PyArray_DATA(array));
  }
  keep_.push_back(std::move(object));
}

}  // namespace reverb_tf::python

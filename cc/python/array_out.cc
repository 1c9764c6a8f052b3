#include "cc/python/array_out.h"

#include "cc/python/dtypes.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"

namespace reverb_tf::python {
namespace {

// Below this it costs more to give the GIL away than to keep it.
constexpr size_t kDecodeWithoutGilBytes = 64 << 10;

}  // namespace

nb::object NewArray(DType dtype, int rank, const int64_t* dims) {
  auto* descr = reinterpret_cast<PyArray_Descr*>(DescrOfDType(dtype).release().ptr());
  nb::object array =
      nb::steal(PyArray_Empty(rank, reinterpret_cast<const npy_intp*>(dims), descr, 0));
  if (!array.is_valid()) nb::raise_python_error();
  return array;
}

void FillStrings(PyArrayObject* array, const std::vector<std::string_view>& elements) {
  auto** out = static_cast<PyObject**>(PyArray_DATA(array));
  for (size_t i = 0; i < elements.size(); ++i) {
    PyObject* bytes =
        PyBytes_FromStringAndSize(elements[i].data(), static_cast<Py_ssize_t>(elements[i].size()));
    if (bytes == nullptr) nb::raise_python_error();
    Py_XDECREF(out[i]);
    out[i] = bytes;
  }
}

nb::object ReadColumn(const Sample& sample, int i) {
  ColumnView column = sample.column(i);
  nb::object result = NewArray(column.dtype, column.rank, column.dims);
  auto* array = reinterpret_cast<PyArrayObject*>(result.ptr());
  if (column.dtype == DType::kString) {
    FillStrings(array, ValueOrThrow(sample.ReadStrings(i, 0, column.num_rows)));
    return result;
  }
  void* out = PyArray_DATA(array);
  if (column.num_bytes < kDecodeWithoutGilBytes) {
    ThrowIfError(sample.ReadColumn(i, out, column.num_bytes));
    return result;
  }
  GilRelease release;
  Status status = sample.ReadColumn(i, out, column.num_bytes);
  release.Reacquire();
  ThrowIfError(status);
  return result;
}

nb::object RowView(const nb::object& object, int64_t i) {
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  PyArray_Descr* descr = PyArray_DESCR(array);
  Py_INCREF(descr);
  char* data = PyArray_BYTES(array) + i * PyArray_STRIDE(array, 0);
  nb::object row = nb::steal(
      PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(array) - 1, PyArray_DIMS(array) + 1,
                           PyArray_STRIDES(array) + 1, data, PyArray_FLAGS(array), nullptr));
  if (!row.is_valid()) nb::raise_python_error();
  Py_INCREF(object.ptr());
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(row.ptr()), object.ptr()) < 0)
    nb::raise_python_error();
  return row;
}

}  // namespace reverb_tf::python

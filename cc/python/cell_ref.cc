#include "cc/python/cell_ref.h"

#include <string>
#include <string_view>

#include "cc/python/array_out.h"
#include "cc/python/dtypes.h"
#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

// Fills `array`, which is a row of dtype and shape `info`, at byte (or, for strings, element)
// `offset`.
void ReadInto(WriterHandle& writer, const StepRef& ref, DType dtype, PyArrayObject* array,
              size_t index, size_t row_bytes) {
  if (dtype != DType::kString) {
    char* out = PyArray_BYTES(array) + index * row_bytes;
    ThrowIfError(writer.Inspect([&](const auto& w) { return w.Read(ref, out, row_bytes); }));
    return;
  }
  auto strings = ValueOrThrow(writer.Inspect([&](const auto& w) { return w.ReadStrings(ref); }));
  auto** out = static_cast<PyObject**>(PyArray_DATA(array)) + index * strings.size();
  for (size_t i = 0; i < strings.size(); ++i) {
    PyObject* bytes =
        PyBytes_FromStringAndSize(strings[i].data(), static_cast<Py_ssize_t>(strings[i].size()));
    if (bytes == nullptr) nb::raise_python_error();
    Py_XDECREF(out[i]);
    out[i] = bytes;
  }
}

size_t RowBytes(const RefInfo& info) {
  size_t bytes = DTypeSize(info.dtype);
  for (int64_t dim : info.dims) bytes *= static_cast<size_t>(dim);
  return bytes;
}

}  // namespace

RefInfo DescribeRow(WriterHandle& writer, const StepRef& ref) {
  return ValueOrThrow(writer.Inspect([&](const auto& w) { return w.Describe(ref); }));
}

nb::object ReadRow(WriterHandle& writer, const StepRef& ref) {
  RefInfo info = DescribeRow(writer, ref);
  nb::object array = NewArray(info.dtype, static_cast<int>(info.dims.size()), info.dims.data());
  ReadInto(writer, ref, info.dtype, reinterpret_cast<PyArrayObject*>(array.ptr()), 0,
           RowBytes(info));
  return array;
}

nb::object ReadRows(WriterHandle& writer, const std::vector<StepRef>& refs) {
  RefInfo info = DescribeRow(writer, refs.front());
  size_t row_bytes = RowBytes(info);
  std::vector<int64_t> dims = {static_cast<int64_t>(refs.size())};
  dims.insert(dims.end(), info.dims.begin(), info.dims.end());
  nb::object array = NewArray(info.dtype, static_cast<int>(dims.size()), dims.data());
  for (size_t i = 0; i < refs.size(); ++i) {
    ReadInto(writer, refs[i], info.dtype, reinterpret_cast<PyArrayObject*>(array.ptr()), i,
             row_bytes);
  }
  return array;
}

nb::tuple ShapeTuple(const std::vector<int64_t>& dims) {
  nb::list shape;
  for (int64_t dim : dims) shape.append(dim);
  return nb::tuple(shape);
}

void DefineCellRef(nb::module_& m) {
  nb::class_<CellRef>(m, "WeakCellRef",
                      "A reference to one value of a TrajectoryWriter; it does not keep the value.")
      .def_prop_ro(
          "expired",
          [](const CellRef& self) {
            return !self.writer->Inspect([&](const auto& w) { return w.IsAlive(self.ref); });
          },
          "True once the writer does not keep the value any more.")
      .def_prop_ro(
          "shape",
          [](const CellRef& self) { return ShapeTuple(DescribeRow(*self.writer, self.ref).dims); },
          "Tuple of ints. RuntimeError when expired.")
      .def_prop_ro(
          "dtype",
          [](const CellRef& self) {
            return DescrOfDType(DescribeRow(*self.writer, self.ref).dtype);
          },
          "numpy.dtype. RuntimeError when expired.")
      .def(
          "numpy", [](const CellRef& self) { return ReadRow(*self.writer, self.ref); },
          "A copy of the value. RuntimeError when expired.");
}

}  // namespace reverb_tf::python

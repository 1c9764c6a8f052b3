#include "cc/python/column.h"

#include <string>

#include "cc/python/dtypes.h"
#include "cc/python/errors.h"
#include "cc/python/nest.h"

namespace reverb_tf::python {
namespace {

nb::object Stack(const nb::list& arrays) {
  return nb::module_::import_("numpy").attr("stack")(arrays);
}

std::string At(const nb::object& path) {
  return path.is_none() ? std::string() : " (column " + ShortRepr(path.ptr()) + ")";
}

}  // namespace

Column::Column(nb::handle references, bool squeeze, nb::object path)
    : path_(std::move(path)), squeeze_(squeeze) {
  bool rows = true;
  for (nb::handle item : references) {
    if (item.is_none()) {
      ThrowPython(PyExc_ValueError,
                  "A TrajectoryColumn cannot contain any None data references, got " +
                      ShortRepr(nb::list(nb::borrow(references)).ptr()) + At(path_) + ".");
    }
    references_.push_back(nb::borrow(item));
    rows = rows && nb::isinstance<CellRef>(item);
  }
  if (rows && !references_.empty()) {
    const CellRef& first = nb::cast<const CellRef&>(references_.front());
    for (const nb::object& item : references_)
      rows = rows && nb::cast<const CellRef&>(item).writer == first.writer;
  }
  if (rows) {
    for (const nb::object& item : references_) {
      const CellRef& cell = nb::cast<const CellRef&>(item);
      AddRow(cell.writer, cell.ref.column, cell.ref.row);
    }
    references_.clear();
  }
  CheckSqueeze();
}

void Column::CheckSqueeze() const {
  if (!squeeze_ || size() == 1) return;
  ThrowPython(PyExc_ValueError,
              "A squeezed TrajectoryColumn must contain exactly one data reference, got " +
                  std::to_string(size()) + At(path_) + ".");
}

void Column::AddRow(const std::shared_ptr<WriterHandle>& writer, int32_t column, int64_t row) {
  if (!ranges_.empty()) {
    RowRange& last = ranges_.back();
    if (last.column == column && last.first + last.length == row) {
      ++last.length;
      return;
    }
  } else {
    writer_ = writer;
  }
  ranges_.push_back({column, row, 1});
}

int64_t Column::size() const {
  auto size = static_cast<int64_t>(references_.size());
  for (const RowRange& range : ranges_) size += range.length;
  return size;
}

std::vector<StepRef> Column::Rows() const {
  std::vector<StepRef> rows;
  for (const RowRange& range : ranges_) {
    for (int64_t i = 0; i < range.length; ++i) rows.push_back({range.column, range.first + i});
  }
  return rows;
}

nb::list Column::References() const {
  nb::list result;
  for (const nb::object& item : references_) result.append(item);
  for (const StepRef& row : Rows()) result.append(CellRef{writer_, row});
  return result;
}

nb::object Column::FirstReference() const {
  if (size() == 0)
    ThrowPython(PyExc_ValueError,
                "An empty TrajectoryColumn has no dtype and no shape" + At(path_) + ".");
  if (!references_.empty()) return references_.front();
  return nb::cast(CellRef{writer_, {ranges_.front().column, ranges_.front().first}});
}

Column Column::Select(nb::handle index) const {
  Column result(path_);
  std::vector<StepRef> rows = Rows();
  ForEachIndex(index, size(), &result.squeeze_, [&](int64_t i) {
    if (rows.empty()) return result.AddReference(references_[static_cast<size_t>(i)]);
    result.AddRow(writer_, rows[static_cast<size_t>(i)].column, rows[static_cast<size_t>(i)].row);
  });
  return result;
}

nb::object Column::Shape() const {
  nb::object shape = FirstReference().attr("shape");
  if (squeeze_) return shape;
  nb::list dims;
  dims.append(size());
  for (nb::handle dim : shape) dims.append(dim);
  return nb::tuple(dims);
}

nb::object Column::DTypeObject() const { return FirstReference().attr("dtype"); }

nb::object Column::Numpy() const {
  if (size() == 0) FirstReference();
  if (writer_ != nullptr) {
    std::vector<StepRef> rows = Rows();
    if (squeeze_) return ReadRow(*writer_, rows.front());
    bool one_column = true;
    for (const StepRef& row : rows) one_column = one_column && row.column == rows.front().column;
    if (one_column) return ReadRows(*writer_, rows);
  }
  nb::list arrays;
  for (nb::handle item : References()) {
    if (nb::cast<bool>(nb::bool_(item.attr("expired")))) {
      ThrowPython(PyExc_RuntimeError,
                  "Cannot convert a TrajectoryColumn to an array: a data reference has expired" +
                      At(path_) + ".");
    }
    arrays.append(item.attr("numpy")());
  }
  return squeeze_ ? nb::object(arrays[0]) : Stack(arrays);
}

int64_t CheckedPosition(nb::handle index, int64_t size) {
  int overflow = 0;
  int64_t i = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (i == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  int64_t position = i < 0 ? i + size : i;
  if (overflow != 0 || position < 0 || position >= size) {
    ThrowPython(PyExc_IndexError, "Index " + ShortRepr(index.ptr()) +
                                      " is out of range: there are " + std::to_string(size) +
                                      " steps.");
  }
  return position;
}

void RefuseIndex(nb::handle index) {
  ThrowPython(PyExc_TypeError, "An index must be an int, a slice or a list of ints, got " +
                                   ShortRepr(index.ptr()) + " (" + TypeName(index.ptr()) + ").");
}

void DefineColumn(nb::module_& m) {
  auto type =
      nb::class_<Column>(m, "TrajectoryColumn",
                         "One column of a trajectory: references to values that were appended, in "
                         "the order chosen.\n\n"
                         "Slices of a TrajectoryWriter's history are columns.")
          .def(nb::init<nb::handle, bool, nb::object>(), nb::arg("data_references"), nb::kw_only(),
               nb::arg("squeeze") = false, nb::arg("path").none() = nb::none(),
               "Args:\n"
               "  data_references: The references, none of them None.\n"
               "  squeeze: Store the only value without the leading (time) axis.\n"
               "  path: Tuple that names the column in error texts.\n\n"
               "Raises:\n"
               "  ValueError: A reference is None, or `squeeze` and there is not exactly one.")
          .def_prop_ro("is_squeezed", &Column::squeeze,
                       "Whether the value is stored without the leading axis.")
          .def("__len__", &Column::size)
          .def("__iter__", [](const Column& self) { return nb::iter(self.References()); })
          .def("__getitem__", &Column::Select, nb::arg("index").none())
          .def_prop_ro("shape", &Column::Shape,
                       "Shape of the array that will be stored, as a tuple.")
          .def_prop_ro("dtype", &Column::DTypeObject, "numpy.dtype of the values.")
          .def("numpy", &Column::Numpy,
               "The array that will be stored. RuntimeError when a reference has expired.");
  RegisterLeafType(type);
}

}  // namespace reverb_tf::python

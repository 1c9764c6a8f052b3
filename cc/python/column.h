// One column of a trajectory: an ordered choice of values that were appended.
#ifndef REVERB_TF_PYTHON_COLUMN_H_
#define REVERB_TF_PYTHON_COLUMN_H_

#include <memory>
#include <vector>

#include "cc/python/cell_ref.h"
#include "cc/python/numpy_api.h"

namespace reverb_tf::python {

// Either rows of a writer of this library, kept as ranges without an object for each row, or
// references of any other kind (objects with shape, dtype, expired and numpy()).
class Column {
 public:
  // Of rows to be added; `path` is a tuple or None and names the column in error texts.
  explicit Column(nb::object path, bool squeeze = false)
      : path_(std::move(path)), squeeze_(squeeze) {}

  // ValueError when a reference is None, or when `squeeze` and there is not exactly one.
  Column(nb::handle references, bool squeeze, nb::object path);

  // Adds what follows the last one. A column holds one kind, and rows of one writer only: AddRow()
  // must not be mixed with AddReference().
  void AddRow(const std::shared_ptr<WriterHandle>& writer, int32_t column, int64_t row);
  void AddReference(nb::object reference) { references_.push_back(std::move(reference)); }

  bool squeeze() const { return squeeze_; }
  void set_squeeze() { squeeze_ = true; }
  int64_t size() const;

  // Null unless the column consists of rows.
  const std::shared_ptr<WriterHandle>& writer() const { return writer_; }
  const std::vector<RowRange>& ranges() const { return ranges_; }
  // What else it consists of; rows as well, if they are of several writers.
  const std::vector<nb::object>& references() const { return references_; }

  nb::list References() const;

  // self[int], self[slice] or self[list of ints]. IndexError out of range, TypeError for any other
  // index.
  Column Select(nb::handle index) const;

  nb::object Shape() const;
  nb::object DTypeObject() const;
  nb::object Numpy() const;

  const nb::object& path() const { return path_; }

 private:
  std::vector<StepRef> Rows() const;
  nb::object FirstReference() const;
  void CheckSqueeze() const;

  std::shared_ptr<WriterHandle> writer_;
  std::vector<RowRange> ranges_;
  std::vector<nb::object> references_;
  nb::object path_;
  bool squeeze_ = false;
};

// Calls `select(position)` for what `index` (int, slice or list of ints) picks out of `size`; sets
// *squeeze for an int. Bools are refused: a list of them would be taken for a mask.
template <typename Select>
void ForEachIndex(nb::handle index, int64_t size, bool* squeeze, Select&& select);

// The position of `index` (negative: from the end). IndexError when out of range.
int64_t CheckedPosition(nb::handle index, int64_t size);

inline bool IsPosition(nb::handle index) {
  return PyLong_Check(index.ptr()) && !PyBool_Check(index.ptr());
}

[[noreturn]] void RefuseIndex(nb::handle index);

void DefineColumn(nb::module_& m);

template <typename Select>
void ForEachIndex(nb::handle index, int64_t size, bool* squeeze, Select&& select) {
  if (IsPosition(index)) {
    *squeeze = true;
    select(CheckedPosition(index, size));
  } else if (PySlice_Check(index.ptr())) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) < 0) nb::raise_python_error();
    Py_ssize_t length = PySlice_AdjustIndices(size, &start, &stop, step);
    for (Py_ssize_t i = 0; i < length; ++i) select(start + i * step);
  } else if (PyList_Check(index.ptr())) {
    for (nb::handle item : nb::borrow<nb::list>(index)) {
      if (!IsPosition(item)) RefuseIndex(index);
      select(CheckedPosition(item, size));
    }
  } else {
    RefuseIndex(index);
  }
}

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_COLUMN_H_

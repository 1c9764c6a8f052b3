// A reference to one value that was appended.
#ifndef REVERB_TF_PYTHON_CELL_REF_H_
#define REVERB_TF_PYTHON_CELL_REF_H_

#include <memory>

#include "cc/python/numpy_api.h"
#include "cc/python/writer_handle.h"

namespace reverb_tf::python {

// Keeps the writer, but not the value: that expires when the writer says so.
struct CellRef {
  std::shared_ptr<WriterHandle> writer;
  StepRef ref;
};

// FailedPreconditionError when the row has expired.
RefInfo DescribeRow(WriterHandle& writer, const StepRef& ref);

// The value as a new array (0-d for a scalar). FailedPreconditionError when it has expired.
nb::object ReadRow(WriterHandle& writer, const StepRef& ref);

// Copies the value of each of `refs`, all of one column, into a new array with a leading axis.
nb::object ReadRows(WriterHandle& writer, const std::vector<StepRef>& refs);

nb::tuple ShapeTuple(const std::vector<int64_t>& dims);

void DefineCellRef(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_CELL_REF_H_

// Stored data -> numpy arrays.
#ifndef REVERB_TF_PYTHON_ARRAY_OUT_H_
#define REVERB_TF_PYTHON_ARRAY_OUT_H_

#include <string_view>
#include <vector>

#include "cc/python/numpy_api.h"
#include "reverb_tf/dtype.h"
#include "reverb_tf/sample.h"

namespace reverb_tf::python {

// A new array of uninitialised elements (None for kString, whose arrays hold bytes objects). Needs
// the GIL.
nb::object NewArray(DType dtype, int rank, const int64_t* dims);

// Fills an array of objects, in row-major order.
void FillStrings(PyArrayObject* array, const std::vector<std::string_view>& elements);

// Column `i` of a sample, decoded straight into a new array; a 0-d array for a scalar. Large
// columns are decoded without the GIL.
nb::object ReadColumn(const Sample& sample, int i);

// array[i] as an array (0-d for elements) that shares the memory of `array`, which has at least one
// axis.
nb::object RowView(const nb::object& array, int64_t i);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_ARRAY_OUT_H_

// Element types: numpy's and ours.
#ifndef REVERB_TF_PYTHON_DTYPES_H_
#define REVERB_TF_PYTHON_DTYPES_H_

#include "cc/python/numpy_api.h"
#include "reverb_tf/dtype.h"

namespace reverb_tf::python {

// The element type of a numpy dtype in native byte order; kInvalid if there is none. bfloat16 and
// what has at most eight bits besides numpy's own types are those of ml_dtypes; quantized types are
// TensorFlow's: structures of one field with the type's name. Bytes, str, object and StringDType
// arrays are kString. Needs the GIL; never raises.
DType DTypeOfDescr(PyArray_Descr* descr);

// The numpy dtype of an element type; kString is object. ImportError without ml_dtypes for its
// types.
nb::object DescrOfDType(DType dtype);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_DTYPES_H_

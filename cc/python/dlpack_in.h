// Arrays of other libraries whose element types numpy does not have, by way of DLPack.
#ifndef REVERB_TF_PYTHON_DLPACK_IN_H_
#define REVERB_TF_PYTHON_DLPACK_IN_H_

#include "cc/python/numpy_api.h"

namespace reverb_tf::python {

// A numpy array that views the bfloat16 or float8 elements of `value`, which lie in memory that the
// CPU reads and are exported through DLPack; its dtype is that of ml_dtypes. Invalid, with no error
// set, for everything else. Needs the GIL. Throws ImportError without ml_dtypes.
nb::object ArrayFromDLPack(nb::handle value);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_DLPACK_IN_H_

// The one way this binding includes numpy's C API. module.cc imports it (REVERB_TF_NUMPY_IMPORT),
// the others share it.
#ifndef REVERB_TF_PYTHON_NUMPY_API_H_
#define REVERB_TF_PYTHON_NUMPY_API_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL reverb_tf_numpy_api
#ifndef REVERB_TF_NUMPY_IMPORT
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#if defined(REVERB_TF_NUMPY_IMPORT) && !defined(NPY_2_0_API_VERSION)
// The headers of numpy 1 call it otherwise.
inline int PyArray_ImportNumPyAPI() { return _import_array(); }
#endif

namespace nb = nanobind;

#endif  // REVERB_TF_PYTHON_NUMPY_API_H_

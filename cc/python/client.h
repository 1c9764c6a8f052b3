// reverb_tf.Client's native part.
#ifndef REVERB_TF_PYTHON_CLIENT_H_
#define REVERB_TF_PYTHON_CLIENT_H_

#include "cc/python/numpy_api.h"

namespace reverb_tf::python {

void DefineClient(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_CLIENT_H_

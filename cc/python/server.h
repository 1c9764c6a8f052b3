// reverb_tf.Table's and reverb_tf.Server's native parts.
#ifndef REVERB_TF_PYTHON_SERVER_H_
#define REVERB_TF_PYTHON_SERVER_H_

#include "cc/python/numpy_api.h"

namespace reverb_tf::python {

void DefineTable(nb::module_& m);
void DefineServer(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_SERVER_H_

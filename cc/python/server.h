// reverb_tf.Table's and reverb_tf.Server's native parts.
#ifndef REVERB_TF_PYTHON_SERVER_H_
#define REVERB_TF_PYTHON_SERVER_H_

#include "cc/python/numpy_api.h"
#include "reverb_tf/table.h"

namespace reverb_tf::python {

// (kind, priority_exponent), as item_selectors knows them.
nb::tuple SelectorRecord(const SelectorOptions& selector);

void DefineTable(nb::module_& m);
void DefineServer(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_SERVER_H_

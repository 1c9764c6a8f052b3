// Where checkpoints are kept, and reading them without a server.
#ifndef REVERB_TF_PYTHON_CHECKPOINT_H_
#define REVERB_TF_PYTHON_CHECKPOINT_H_

#include "cc/python/numpy_api.h"
#include "reverb_tf/checkpoint.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::python {

// Of a reverb_tf.pybind.Checkpointer. TypeError for another object.
CheckpointOptions CheckpointerOptions(nb::handle checkpointer);

// For a load without the GIL: `progress` is None or is called with two ints. What it raises is
// reported and does not end the load. `progress` and `wait` must outlive the load.
CheckpointLoadOptions LoadOptions(nb::handle progress, const WaitOptions& wait);

void DefineCheckpointReader(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_CHECKPOINT_H_

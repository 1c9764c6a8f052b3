// A sampled item as the values of variables.
#ifndef REVERB_TF_OPS_VARIABLE_RESULT_H_
#define REVERB_TF_OPS_VARIABLE_RESULT_H_

#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace reverb_tf::ops {

// The first step of each column of `sample` becomes an output of its own, the first one at
// `first_output`: without a copy where it can be shared (shared_tensor.h). All columns are checked before any output is made: INVALID_ARGUMENT, which
// names table and column, for another number of columns than `shapes` has entries, another dtype
// than the output's, or a shape that is not compatible with its entry.
absl::Status WriteVariables(tensorflow::OpKernelContext* ctx, const std::string& table,
                            const Sample& sample,
                            const std::vector<tensorflow::PartialTensorShape>& shapes,
                            int first_output);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_VARIABLE_RESULT_H_

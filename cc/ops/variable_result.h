// A sampled item as the values of variables.
#ifndef REVERB_TF_OPS_VARIABLE_RESULT_H_
#define REVERB_TF_OPS_VARIABLE_RESULT_H_

#include <functional>
#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace reverb_tf::ops {

// The first step of each column of `sample` becomes an output of its own, the first one at
// `first_output`: without a copy where it can be shared (shared_tensor.h). `done` is called once,
// perhaps later, as RunDecode says. All columns are checked before any output is made:
// INVALID_ARGUMENT, which names table and column, for another number of columns than `shapes` has
// entries, another dtype than the output's, or a shape that is not compatible with its entry.
void WriteVariables(tensorflow::OpKernelContext* ctx, const std::string& table, Sample sample,
                    const std::vector<tensorflow::PartialTensorShape>& shapes, int first_output,
                    std::function<void(absl::Status)> done);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_VARIABLE_RESULT_H_

// Outputs that are one number.
#ifndef REVERB_TF_OPS_SCALAR_OUTPUT_H_
#define REVERB_TF_OPS_SCALAR_OUTPUT_H_

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {

// Sets output `i`, which has the type T and no axes.
template <typename T>
absl::Status WriteScalar(tensorflow::OpKernelContext* ctx, int i, T value) {
  tensorflow::Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(ctx->allocate_output(i, tensorflow::TensorShape({}), &output));
  output->scalar<T>()() = value;
  return absl::OkStatus();
}

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SCALAR_OUTPUT_H_

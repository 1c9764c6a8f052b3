// The exponent of importance weights: a number, or a variable that is read again for each batch.
#ifndef REVERB_TF_OPS_BETA_H_
#define REVERB_TF_OPS_BETA_H_

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"

namespace reverb_tf::ops {

// Thread-safe. Keeps the variable alive.
class Beta {
 public:
  // `input` is a scalar double, or the handle of a variable. INVALID_ARGUMENT for other shapes;
  // NOT_FOUND for a variable that is not initialised yet.
  static absl::Status Make(tensorflow::OpKernelContext* ctx, const tensorflow::Tensor& input,
                           Beta* beta);

  // FAILED_PRECONDITION: the variable has no value. INVALID_ARGUMENT: it is not a scalar of float32
  // or float64.
  absl::Status Read(double* value) const;

  // As it was given.
  const tensorflow::Tensor& input() const { return input_; }

 private:
  tensorflow::Tensor input_;
  tensorflow::core::RefCountPtr<tensorflow::Var> variable_;  // null: a number
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_BETA_H_

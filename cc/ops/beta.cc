#include "cc/ops/beta.h"

#include <string>

#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/platform/mutex.h"

namespace reverb_tf::ops {

using ::tensorflow::Tensor;

absl::Status Beta::Make(tensorflow::OpKernelContext* ctx, const Tensor& input, Beta* beta) {
  if (!tensorflow::TensorShapeUtils::IsScalar(input.shape())) {
    return absl::InvalidArgumentError("beta must be a scalar, got shape " +
                                      input.shape().DebugString() + ".");
  }
  beta->input_ = input;
  if (input.dtype() != tensorflow::DT_RESOURCE) return absl::OkStatus();
  return tensorflow::LookupResource(ctx, input.scalar<tensorflow::ResourceHandle>()(),
                                    &beta->variable_);
}

absl::Status Beta::Read(double* value) const {
  if (variable_ == nullptr) {
    *value = input_.scalar<double>()();
    return absl::OkStatus();
  }
  tensorflow::tf_shared_lock lock(*variable_->mu());
  const Tensor& tensor = *variable_->tensor();
  if (!variable_->is_initialized)
    return absl::FailedPreconditionError("The variable that was given as weights has no value.");
  if (tensorflow::TensorShapeUtils::IsScalar(tensor.shape())) {
    if (tensor.dtype() == tensorflow::DT_FLOAT) {
      *value = tensor.scalar<float>()();
      return absl::OkStatus();
    }
    if (tensor.dtype() == tensorflow::DT_DOUBLE) {
      *value = tensor.scalar<double>()();
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "A variable that is given as weights must be a scalar of float32 or float64, got " +
      tensorflow::DataTypeString(tensor.dtype()) + " " + tensor.shape().DebugString() + ".");
}

}  // namespace reverb_tf::ops

// Tensors whose memory is that of a sample.
#ifndef REVERB_TF_OPS_SHARED_TENSOR_H_
#define REVERB_TF_OPS_SHARED_TENSOR_H_

#include "reverb_tf/sample.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace reverb_tf::ops {

// Makes `out` the first row, of shape `shape`, of column i without copying it; false, and `out` is
// as before, where Sample::ShareColumn has nothing. TensorFlow takes such a tensor for memory that
// it does not own: ops that update in place copy it first.
bool ShareFirstRow(const Sample& sample, int i, const tensorflow::TensorShape& shape,
                   tensorflow::Tensor* out);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SHARED_TENSOR_H_

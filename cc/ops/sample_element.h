// A sample as the components of an element.
#ifndef REVERB_TF_OPS_SAMPLE_ELEMENT_H_
#define REVERB_TF_OPS_SAMPLE_ELEMENT_H_

#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"

namespace reverb_tf::ops {

// Appends the scalars of the info.
void AppendInfo(tensorflow::Allocator* allocator, const SampleInfo& info,
                std::vector<tensorflow::Tensor>* element);

// Appends the columns, decoded.
absl::Status AppendColumns(tensorflow::Allocator* allocator, const Sample& sample,
                           std::vector<tensorflow::Tensor>* element);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLE_ELEMENT_H_

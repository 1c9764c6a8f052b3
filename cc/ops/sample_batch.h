// Samples as one batch of tensors.
#ifndef REVERB_TF_OPS_SAMPLE_BATCH_H_
#define REVERB_TF_OPS_SAMPLE_BATCH_H_

#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace reverb_tf::ops {

struct SampleBatchOptions {
  bool timesteps = false;  // the first step of each item, not the whole
  bool batched = true;     // outputs have the samples as their first axis; else there is one sample
  // Of the data of one sample; no entries: unknown. Checked.
  std::vector<tensorflow::PartialTensorShape> shapes;
};

// Writes the info and the data of at least one sample into the outputs of the op: key, probability,
// table_size, priority, times_sampled, then the columns, each decoded straight into its row.
// INVALID_ARGUMENT, naming table, column and both sides, for another number of columns, another
// dtype or shape than the op has, and samples of different shapes.
absl::Status WriteSamples(tensorflow::OpKernelContext* ctx, const std::string& table,
                          const SampleBatchOptions& options, const std::vector<Sample>& samples);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLE_BATCH_H_

// What the datasets of sampled items check in their options.
#ifndef REVERB_TF_OPS_SAMPLE_OPTIONS_H_
#define REVERB_TF_OPS_SAMPLE_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace reverb_tf::ops {

// The errors are INVALID_ARGUMENT and name the option, what was given and what was expected.

// At least 1, or -1 where that means a default.
absl::Status CheckOption(const char* name, int64_t value, bool allow_default);

// Five components of the sample info, then those of the data.
absl::Status CheckComponents(const tensorflow::DataTypeVector& dtypes,
                             const std::vector<tensorflow::PartialTensorShape>& shapes);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLE_OPTIONS_H_

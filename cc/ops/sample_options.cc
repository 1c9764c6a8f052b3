#include "cc/ops/sample_options.h"

#include <string>

#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {

absl::Status CheckOption(const char* name, int64_t value, bool allow_default) {
  if (value >= 1 || (allow_default && value == -1)) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(name) + " must be an integer >= 1" +
                                    (allow_default ? " or -1" : "") + ", got " +
                                    std::to_string(value) + ".");
}

absl::Status CheckComponents(const tensorflow::DataTypeVector& dtypes,
                             const std::vector<tensorflow::PartialTensorShape>& shapes) {
  if (dtypes.size() != shapes.size() || dtypes.size() < kNumInfoTensors) {
    return absl::InvalidArgumentError(
        "dtypes and shapes must have the same number of entries, the " +
        std::to_string(kNumInfoTensors) + " of the sample info and then those of the data; got " +
        std::to_string(dtypes.size()) + " and " + std::to_string(shapes.size()) + ".");
  }
  const tensorflow::DataTypeVector info = {tensorflow::DT_UINT64, tensorflow::DT_DOUBLE,
                                           tensorflow::DT_INT64, tensorflow::DT_DOUBLE,
                                           tensorflow::DT_INT32};
  for (size_t i = 0; i < kNumInfoTensors; ++i) {
    if (dtypes[i] == info[i] && shapes[i].IsCompatibleWith(tensorflow::TensorShape({}))) continue;
    return absl::InvalidArgumentError(
        "Component " + std::to_string(i) + " of the sample info is a scalar " +
        tensorflow::DataTypeString(info[i]) + "; requested was " +
        tensorflow::DataTypeString(dtypes[i]) + " " + shapes[i].DebugString() + ".");
  }
  return absl::OkStatus();
}

}  // namespace reverb_tf::ops

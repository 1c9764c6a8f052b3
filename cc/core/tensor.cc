#include "reverb_tf/tensor.h"

namespace reverb_tf {

std::string ShapeString(const int64_t* dims, int32_t rank) {
  std::string text = "[";
  for (int32_t i = 0; i < rank; ++i) {
    if (i > 0) text += ',';
    text += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}

std::string ShapeString(const TensorSpec& spec) {
  if (spec.unknown_rank) return "<unknown>";
  return ShapeString(spec.dims.data(), static_cast<int32_t>(spec.dims.size()));
}

}  // namespace reverb_tf

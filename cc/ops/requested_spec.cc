#include "cc/ops/requested_spec.h"

#include <cstddef>

namespace reverb_tf::ops {
namespace {

std::string SpecListString(const std::vector<TensorSpec>& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) {
    if (!text.empty()) text += ", ";
    if (!spec.name.empty()) text += spec.name + ": ";
    text += SpecString(spec);
  }
  return text;
}

}  // namespace

bool AreCompatible(const TensorSpec& a, const TensorSpec& b) {
  if (a.dtype != b.dtype) return false;
  if (a.unknown_rank || b.unknown_rank) return true;
  return a.AcceptsShape(b.dims.data(), static_cast<int32_t>(b.dims.size()));
}

std::string SpecString(const TensorSpec& spec) {
  return std::string("(") + DTypeName(spec.dtype) + ", " + ShapeString(spec) + ")";
}

Status CheckRequest(const std::string& table, const std::vector<TensorSpec>& requested,
                    const std::vector<TensorSpec>& signature) {
  if (requested.size() != signature.size()) {
    return InvalidArgumentError(
        "Inconsistent number of tensors requested from table '" + table + "'.  Requested " +
        std::to_string(requested.size()) + " tensors, but table signature shows " +
        std::to_string(signature.size()) + " tensors.  Requested: " + SpecListString(requested) +
        ".  Table signature: " + SpecListString(signature) + ".");
  }
  for (size_t i = 0; i < requested.size(); ++i) {
    if (AreCompatible(requested[i], signature[i])) continue;
    return InvalidArgumentError("Requested incompatible tensor at flattened index " +
                                std::to_string(i) + " from table '" + table +
                                "'.  Requested (dtype, shape): " + SpecString(requested[i]) +
                                ".  Signature (dtype, shape): " + SpecString(signature[i]) +
                                ".  Table signature: " + SpecListString(signature) + ".");
  }
  return OkStatus();
}

}  // namespace reverb_tf::ops

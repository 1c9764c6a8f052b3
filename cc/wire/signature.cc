#include "cc/wire/signature.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "proto/structured_value.pb.h"

namespace reverb_tf::wire {
namespace {

using tensorflow_compat::StructuredValue;
using tensorflow_compat::TensorShapeProto;

std::string Join(const std::string& path, const std::string& name) {
  if (path.empty()) return name;
  return name.empty() ? path : path + "/" + name;
}

class Flattener {
 public:
  explicit Flattener(std::vector<TensorSpec>* leaves) : leaves_(leaves) {}

  // The parser bounds the depth of `value`, so recursion is bounded.
  Status Add(const StructuredValue& value, const std::string& path) {
    switch (value.kind_case()) {
      case StructuredValue::kTensorSpecValue:
        return AddLeaf(value.tensor_spec_value(), path);
      case StructuredValue::kBoundedTensorSpecValue:
        return AddLeaf(value.bounded_tensor_spec_value(), path);
      case StructuredValue::kListValue:
        return AddSequence(value.list_value().values(), path);
      case StructuredValue::kTupleValue:
        return AddSequence(value.tuple_value().values(), path);
      case StructuredValue::kDictValue:
        return AddDict(value.dict_value(), path);
      case StructuredValue::kNamedTupleValue:
        for (const auto& pair : value.named_tuple_value().values()) {
          REVERB_TF_RETURN_IF_ERROR(Add(pair.value(), Join(path, pair.key())));
        }
        return OkStatus();
      default:
        return InvalidArgumentError(
            "the signature has a value of kind " + std::to_string(value.kind_case()) + " at '" +
            path + "'; expected a dict, list, tuple or named tuple, or a tensor spec");
    }
  }

 private:
  template <typename Values>
  Status AddSequence(const Values& values, const std::string& path) {
    for (int i = 0; i < values.size(); ++i) {
      REVERB_TF_RETURN_IF_ERROR(Add(values[i], Join(path, std::to_string(i))));
    }
    return OkStatus();
  }

  Status AddDict(const tensorflow_compat::DictValue& dict, const std::string& path) {
    std::vector<std::pair<std::string, const StructuredValue*>> fields;
    for (const auto& [key, value] : dict.fields()) fields.emplace_back(key, &value);
    std::sort(fields.begin(), fields.end());
    for (const auto& [key, value] : fields) {
      REVERB_TF_RETURN_IF_ERROR(Add(*value, Join(path, key)));
    }
    return OkStatus();
  }

  template <typename Spec>
  Status AddLeaf(const Spec& from, const std::string& path) {
    TensorSpec spec;
    spec.name = Join(path, from.name());
    if (!IsSupportedDType(from.dtype())) {
      return InvalidArgumentError("the signature has dtype number " + std::to_string(from.dtype()) +
                                  " at '" + spec.name + "', which is not supported");
    }
    spec.dtype = static_cast<DType>(from.dtype());
    spec.unknown_rank = from.shape().unknown_rank();
    for (const TensorShapeProto::Dim& dim : from.shape().dim()) {
      if (dim.size() < -1) {
        return InvalidArgumentError("the signature has dimension " + std::to_string(dim.size()) +
                                    " at '" + spec.name + "'; expected -1 (unknown) or more");
      }
      spec.dims.push_back(dim.size());
    }
    leaves_->push_back(std::move(spec));
    return OkStatus();
  }

  std::vector<TensorSpec>* const leaves_;
};

}  // namespace

Result<TableSignature> ParseSignature(std::string_view serialized) {
  StructuredValue value;
  if (serialized.size() > std::numeric_limits<int32_t>::max() ||
      !value.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    return InvalidArgumentError("the signature is not a serialized StructuredValue");
  }
  TableSignature signature;
  signature.has_signature = true;
  if (value.kind_case() == StructuredValue::KIND_NOT_SET ||
      value.kind_case() == StructuredValue::kNoneValue) {
    return signature;
  }
  REVERB_TF_RETURN_IF_ERROR(Flattener(&signature.leaves).Add(value, ""));
  return signature;
}

}  // namespace reverb_tf::wire

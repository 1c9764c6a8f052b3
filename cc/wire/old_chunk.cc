#include "cc/wire/old_chunk.h"

#include <cstdint>
#include <limits>

#include "cc/wire/wire_format.h"
#include "proto/schema.pb.h"

namespace reverb_tf::wire {
namespace {

using tensorflow_compat::TensorProto;

// Elements of the shape; -1 if a dimension is negative or there are too many.
int64_t NumElements(const TensorProto& tensor) {
  int64_t n = 1;
  for (const auto& dim : tensor.tensor_shape().dim()) {
    if (dim.size() < 0 || __builtin_mul_overflow(n, dim.size(), &n)) return -1;
  }
  return n;
}

// One value for each element, exactly: a shorter list, whose last value stands for the rest, would
// let a peer ask for any amount of memory.
Status PackStrings(TensorProto* tensor) {
  const int64_t n = NumElements(*tensor);
  if (n != tensor->string_val_size()) {
    return InvalidArgumentError("string_val has " + std::to_string(tensor->string_val_size()) +
                                " values, but the shape has " + std::to_string(n) + " elements");
  }
  if (!tensor->tensor_content().empty()) {
    return InvalidArgumentError("a tensor has both string_val and tensor_content");
  }
  std::string packed;
  for (const std::string& s : tensor->string_val()) {
    char length[kMaxVarintSize];
    packed.append(length, static_cast<size_t>(WriteVarint(length, s.size()) - length));
  }
  for (const std::string& s : tensor->string_val()) packed += s;
  tensor->clear_string_val();
  tensor->set_tensor_content(std::move(packed));
  return OkStatus();
}

}  // namespace

Result<std::string> RewriteOldChunk(std::string_view serialized) {
  deepmind::reverb::ChunkData chunk;
  if (serialized.size() > std::numeric_limits<int32_t>::max() ||
      !chunk.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    return InvalidArgumentError("the message is not a ChunkData");
  }
  if (chunk.deprecated_data_size() > 0) {
    if (chunk.data().tensors_size() > 0) {
      return InvalidArgumentError("the chunk has both data and deprecated_data");
    }
    chunk.mutable_data()->mutable_tensors()->Swap(chunk.mutable_deprecated_data());
  }
  for (TensorProto& tensor : *chunk.mutable_data()->mutable_tensors()) {
    if (tensor.string_val_size() > 0) REVERB_TF_RETURN_IF_ERROR(PackStrings(&tensor));
  }
  return chunk.SerializeAsString();
}

}  // namespace reverb_tf::wire

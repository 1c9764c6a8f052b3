#include <snappy.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "cc/wire/chunk_codec.h"
#include "cc/wire/delta.h"
#include "cc/wire/snappy_frame.h"
#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {
namespace {

constexpr size_t kMaxChunkBytes = std::numeric_limits<int32_t>::max();

// Below this, the element headers eat what could be gained.
constexpr size_t kMinCompressBytes = 64;

// How one column will lie in the chunk.
struct Plan {
  enum class Form { kLiteral, kCompressed, kStrings };
  Form form = Form::kLiteral;
  const char* raw = nullptr;  // elements to be framed (kLiteral)
  size_t raw_size = 0;
  std::unique_ptr<char[]> deltas;  // owns `raw` if it is not the caller's
  std::unique_ptr<char[]> compressed;
  size_t content_size = 0;
  size_t shape_size = 0;
  size_t tensor_size = 0;  // of the TensorProto
};

size_t DimSize(int64_t dim) { return VarintFieldSize(SignExtend(dim)); }

Status CheckColumn(const core::Chunk::Header& header, const TensorView& tensor, int i) {
  const std::string column = "column " + std::to_string(i);
  if (!IsSupportedDType(static_cast<int32_t>(tensor.dtype))) {
    return InvalidArgumentError(column + " has dtype number " +
                                std::to_string(static_cast<int32_t>(tensor.dtype)) +
                                ", which cannot be sent");
  }
  if (tensor.rank < 1 || tensor.dims[0] != header.num_rows || header.num_rows < 1) {
    return InvalidArgumentError(column + " has shape " + ShapeString(tensor.dims, tensor.rank) +
                                ", but its first dimension must be " +
                                std::to_string(header.num_rows) + " (and at least 1) rows");
  }
  if (tensor.num_bytes() > kMaxChunkBytes) {
    return InvalidArgumentError(column + " has " + std::to_string(tensor.num_bytes()) +
                                " bytes; a chunk must be smaller than 2 GiB");
  }
  return OkStatus();
}

void PlanStrings(const TensorView& tensor, Plan* plan) {
  plan->form = Plan::Form::kStrings;
  const auto* strings = static_cast<const std::string_view*>(tensor.data);
  const int64_t n = tensor.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    plan->content_size += VarintSize(strings[i].size()) + strings[i].size();
    plan->raw_size += strings[i].size();
  }
}

void PlanNumbers(const TensorView& tensor, bool delta, CompressionAdvisor* advisor, Plan* plan) {
  plan->raw = static_cast<const char*>(tensor.data);
  plan->raw_size = tensor.num_bytes();
  if (delta && DeltaApplies(tensor.dtype, tensor.rank) && plan->raw_size > 0) {
    plan->deltas.reset(new char[plan->raw_size]);
    DeltaEncode(tensor.dtype, plan->raw, tensor.dims[0], plan->raw_size / tensor.dims[0],
                plan->deltas.get());
    plan->raw = plan->deltas.get();
  }
  plan->content_size = LiteralFrameSize(plan->raw_size);
  if (plan->raw_size < kMinCompressBytes) return;
  if (advisor != nullptr && !advisor->ShouldCompress()) return;
  plan->compressed.reset(new char[snappy::MaxCompressedLength(plan->raw_size)]);
  size_t size;
  snappy::RawCompress(plan->raw, plan->raw_size, plan->compressed.get(), &size);
  if (advisor != nullptr) advisor->Report(plan->raw_size, size);
  if (size < plan->content_size) {
    plan->form = Plan::Form::kCompressed;
    plan->content_size = size;
  } else {
    plan->compressed.reset();
  }
}

char* WriteContent(char* out, const TensorView& tensor, const Plan& plan) {
  switch (plan.form) {
    case Plan::Form::kCompressed:
      return WriteBytes(out, {plan.compressed.get(), plan.content_size});
    case Plan::Form::kLiteral:
      return WriteBytes(WriteLiteralHeader(out, plan.raw_size), {plan.raw, plan.raw_size});
    case Plan::Form::kStrings:
      break;
  }
  const auto* strings = static_cast<const std::string_view*>(tensor.data);
  const int64_t n = tensor.num_elements();
  for (int64_t i = 0; i < n; ++i) out = WriteVarint(out, strings[i].size());
  for (int64_t i = 0; i < n; ++i) out = WriteBytes(out, strings[i]);
  return out;
}

// TensorProto: dtype = 1, tensor_shape = 2, tensor_content = 4.
void FinishPlan(const TensorView& tensor, Plan* plan) {
  for (int32_t i = 0; i < tensor.rank; ++i) {
    plan->shape_size += DelimitedSize(DimSize(tensor.dims[i]));
  }
  plan->tensor_size = VarintFieldSize(SignExtend(static_cast<int32_t>(tensor.dtype))) +
                      DelimitedSize(plan->shape_size) + DelimitedSize(plan->content_size);
}

char* WriteTensorHeader(char* out, const TensorView& tensor, const Plan& plan) {
  out = WriteDelimitedHeader(out, 1, plan.tensor_size);
  out = WriteVarintField(out, 1, SignExtend(static_cast<int32_t>(tensor.dtype)));
  out = WriteDelimitedHeader(out, 2, plan.shape_size);
  for (int32_t i = 0; i < tensor.rank; ++i) {
    out = WriteDelimitedHeader(out, 2, DimSize(tensor.dims[i]));
    out = WriteVarintField(out, 1, SignExtend(tensor.dims[i]));
  }
  return WriteDelimitedHeader(out, 4, plan.content_size);
}

// ChunkData without its tensors, and the header of the field `data` that holds them.
struct ChunkFrame {
  ChunkFrame(const core::Chunk::Header& h, int num_tensors, size_t data_size)
      : header(h), num_tensors(num_tensors), data_size(data_size) {
    range_size = VarintFieldSize(h.episode_id) + VarintFieldSize(SignExtend(h.first_step)) +
                 VarintFieldSize(SignExtend(h.last_step)) + VarintFieldSize(h.sparse);
  }
  size_t Size() const {
    return VarintFieldSize(header.key) + DelimitedSize(range_size) +
           VarintFieldSize(header.delta_encoded) + DelimitedSize(data_size) +
           VarintFieldSize(SignExtend(num_tensors)) + VarintFieldSize(header.uncompressed_size);
  }
  char* WriteUpToData(char* out) const {
    out = WriteVarintField(out, 1, header.key);
    out = WriteDelimitedHeader(out, 2, range_size);
    out = WriteVarintField(out, 1, header.episode_id);
    out = WriteVarintField(out, 2, SignExtend(header.first_step));
    out = WriteVarintField(out, 3, SignExtend(header.last_step));
    out = WriteVarintField(out, 4, header.sparse);
    out = WriteVarintField(out, 4, header.delta_encoded);
    return WriteDelimitedHeader(out, 5, data_size);
  }
  void WriteAfterData(char* out) const {
    out = WriteVarintField(out, 6, SignExtend(num_tensors));
    WriteVarintField(out, 7, header.uncompressed_size);
  }

  const core::Chunk::Header& header;
  int num_tensors;
  size_t data_size;
  size_t range_size;
};

// An array of somebody else, and what stands before and after it in the chunk.
class BorrowedArray : public core::ChunkPieces {
 public:
  BorrowedArray(std::string frame, size_t before, std::string_view array,
                std::shared_ptr<const void> owner)
      : frame_(std::move(frame)), owner_(std::move(owner)) {
    const std::string_view frame_view = frame_;
    views_ = {frame_view.substr(0, before), array, frame_view.substr(before)};
  }

 private:
  const std::string frame_;
  const std::shared_ptr<const void> owner_;
};

// The chunk of one column whose elements stay where they are.
core::ChunkRef Borrow(const ChunkFrame& frame, const TensorView& tensor, const Plan& plan,
                      std::shared_ptr<const void> owner) {
  std::string around(frame.Size() - plan.raw_size, '\0');
  char* out = WriteTensorHeader(frame.WriteUpToData(around.data()), tensor, plan);
  const size_t offset = static_cast<size_t>(out - around.data());
  out = WriteLiteralHeader(out, plan.raw_size);
  const size_t before = static_cast<size_t>(out - around.data());
  frame.WriteAfterData(out);
  core::Chunk::Builder builder(
      frame.header, 1, tensor.rank,
      std::make_unique<BorrowedArray>(std::move(around), before,
                                      std::string_view(plan.raw, plan.raw_size), std::move(owner)),
      frame.Size());
  builder.AddTensor(tensor.dtype, tensor.dims, tensor.rank, offset, plan.content_size);
  return std::move(builder).Build();
}

// With an owner (and one tensor), large literals stay where they are.
Result<core::ChunkRef> Encode(core::Chunk::Header header, const TensorView* tensors, int n,
                              CompressionAdvisor* advisors, std::shared_ptr<const void> owner) {
  if (n < 1) return InvalidArgumentError("a chunk needs at least one column");
  std::vector<Plan> plans(static_cast<size_t>(n));
  size_t data_size = 0;
  int total_dims = 0;
  header.uncompressed_size = 0;
  for (int i = 0; i < n; ++i) {
    REVERB_TF_RETURN_IF_ERROR(CheckColumn(header, tensors[i], i));
    Plan* plan = &plans[static_cast<size_t>(i)];
    if (tensors[i].dtype == DType::kString) {
      PlanStrings(tensors[i], plan);
    } else {
      PlanNumbers(tensors[i], header.delta_encoded, advisors == nullptr ? nullptr : &advisors[i],
                  plan);
    }
    FinishPlan(tensors[i], plan);
    data_size += DelimitedSize(plan->tensor_size);
    total_dims += tensors[i].rank;
    header.uncompressed_size += plan->raw_size;
  }
  const ChunkFrame frame(header, n, data_size);
  if (frame.Size() > kMaxChunkBytes) {
    return InvalidArgumentError("a chunk of " + std::to_string(frame.Size()) +
                                " bytes; it must be smaller than 2 GiB");
  }
  if (owner != nullptr && plans[0].form == Plan::Form::kLiteral && plans[0].deltas == nullptr &&
      plans[0].raw_size >= kMinBytesInPieces) {
    return Borrow(frame, tensors[0], plans[0], std::move(owner));
  }
  core::Chunk::Builder builder(header, n, total_dims, frame.Size());
  char* out = frame.WriteUpToData(builder.bytes());
  for (int i = 0; i < n; ++i) {
    const Plan& plan = plans[static_cast<size_t>(i)];
    out = WriteTensorHeader(out, tensors[i], plan);
    builder.AddTensor(tensors[i].dtype, tensors[i].dims, tensors[i].rank,
                      static_cast<size_t>(out - builder.bytes()), plan.content_size);
    out = WriteContent(out, tensors[i], plan);
  }
  frame.WriteAfterData(out);
  return std::move(builder).Build();
}

}  // namespace

Result<core::ChunkRef> EncodeChunk(core::Chunk::Header header, const TensorView* tensors, int n,
                                   CompressionAdvisor* advisors) {
  return Encode(header, tensors, n, advisors, nullptr);
}

Result<core::ChunkRef> EncodeChunk(core::Chunk::Header header, const TensorView& tensor,
                                   std::shared_ptr<const void> owner, CompressionAdvisor* advisor) {
  return Encode(header, &tensor, 1, advisor, std::move(owner));
}

}  // namespace reverb_tf::wire

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "cc/wire/aligned_copy.h"
#include "cc/wire/chunk_codec.h"
#include "cc/wire/chunk_frame.h"
#include "cc/wire/old_chunk.h"
#include "cc/wire/snappy_frame.h"

namespace reverb_tf::wire {
namespace {

constexpr size_t kMaxChunkBytes = std::numeric_limits<int32_t>::max();
constexpr int32_t kMaxRank = 254;

const int64_t* Dims(const ChunkFrame& frame, const TensorFrame& tensor) {
  return frame.dims.data() + tensor.first_dim;
}

Status ShapeError(const ChunkFrame& frame, const TensorFrame& tensor, const std::string& what) {
  return InvalidArgumentError("shape " + ShapeString(Dims(frame, tensor), tensor.rank) + " " +
                              what);
}

Status CheckShape(const ChunkFrame& frame, const TensorFrame& tensor) {
  if (!IsSupportedDType(tensor.dtype)) {
    return InvalidArgumentError("dtype number " + std::to_string(tensor.dtype) +
                                " is not supported");
  }
  if (tensor.unknown_rank || tensor.rank < 1 || tensor.rank > kMaxRank) {
    return InvalidArgumentError("a tensor has " +
                                (tensor.unknown_rank ? "unknown" : std::to_string(tensor.rank)) +
                                " dimensions; expected rows and at most 253 others");
  }
  const int64_t* dims = Dims(frame, tensor);
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (dims[i] < 0) {
      return ShapeError(frame, tensor, "has the dimension " + std::to_string(dims[i]));
    }
  }
  if (dims[0] < 1 || dims[0] > std::numeric_limits<int32_t>::max()) {
    return ShapeError(
        frame, tensor,
        "has " + std::to_string(dims[0]) + " rows; expected at least 1 and less than 2^31");
  }
  // The first tensor has passed these checks, so it has rows.
  const int64_t rows = *Dims(frame, frame.tensors[0]);
  if (dims[0] == rows) return OkStatus();
  return InvalidArgumentError("one tensor has " + std::to_string(rows) + " rows, another " +
                              std::to_string(dims[0]) + "; expected the same number");
}

// Elements of a shape without negative dims, times the size of one. False when that is not below
// 2^63; a dimension of 0 does not hide the others.
bool CountBytes(const int64_t* dims, int32_t rank, uint64_t element_size, uint64_t* bytes) {
  int64_t product = static_cast<int64_t>(element_size);
  bool empty = false;
  for (int32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, dims[i], &product)) {
      return false;
    }
  }
  *bytes = empty ? 0 : static_cast<uint64_t>(product);
  return true;
}

Status CheckStrings(Cursor content, uint64_t num_strings, uint64_t* bytes) {
  const size_t size = content.remaining();
  if (num_strings > size) {
    return InvalidArgumentError(std::to_string(num_strings) + " strings cannot be packed in " +
                                std::to_string(size) + " bytes");
  }
  *bytes = 0;
  for (uint64_t i = 0; i < num_strings; ++i) {
    uint64_t length;
    if (!content.ReadVarint(&length) || length > size) {
      return InvalidArgumentError("a list of strings has a malformed length");
    }
    *bytes += length;
  }
  if (*bytes == content.remaining()) return OkStatus();
  return InvalidArgumentError("the lengths of a list of strings sum up to " +
                              std::to_string(*bytes) + " bytes, but there are " +
                              std::to_string(content.remaining()));
}

bool IsString(const TensorFrame& tensor) {
  return static_cast<DType>(tensor.dtype) == DType::kString;
}

// Everything but the content of snappy blocks. `bytes` receives how many there are when decoded.
Status CheckTensor(const ChunkFrame& frame, const TensorFrame& tensor, uint64_t* bytes) {
  REVERB_TF_RETURN_IF_ERROR(CheckShape(frame, tensor));
  const size_t element_size = IsString(tensor) ? 1 : DTypeSize(static_cast<DType>(tensor.dtype));
  if (!CountBytes(Dims(frame, tensor), tensor.rank, element_size, bytes)) {
    return ShapeError(frame, tensor, "has too many elements");
  }
  if (IsString(tensor)) return CheckStrings(tensor.content, *bytes, bytes);
  // Snappy cannot do better than 64 bytes from 3, so this refuses only what CheckSnappy would, but
  // before any copy.
  if (*bytes / 22 > tensor.content.remaining()) {
    return ShapeError(frame, tensor,
                      "needs " + std::to_string(*bytes) + " bytes, more than the " +
                          std::to_string(tensor.content.remaining()) +
                          " bytes of its snappy block can hold");
  }
  return OkStatus();
}

Status CheckFrame(ChunkFrame* frame) {
  core::Chunk::Header& header = frame->header;
  if (frame->tensors.empty()) return InvalidArgumentError("there is no tensor");
  if (frame->declared_tensors != 0 &&
      frame->declared_tensors != static_cast<int64_t>(frame->tensors.size())) {
    return InvalidArgumentError("data_tensors_len is " + std::to_string(frame->declared_tensors) +
                                ", but there are " + std::to_string(frame->tensors.size()) +
                                " tensors");
  }
  if (header.last_step < header.first_step) {
    return InvalidArgumentError("the range of steps ends (" + std::to_string(header.last_step) +
                                ") before it starts (" + std::to_string(header.first_step) + ")");
  }
  for (const TensorFrame& tensor : frame->tensors) {
    uint64_t bytes = 0;
    REVERB_TF_RETURN_IF_ERROR(CheckTensor(*frame, tensor, &bytes));
    header.uncompressed_size += bytes;
  }
  header.num_rows = static_cast<int32_t>(*Dims(*frame, frame->tensors[0]));
  return OkStatus();
}

uint64_t RawSize(const ChunkFrame& frame, const TensorFrame& tensor) {
  uint64_t raw_size = 0;
  CountBytes(Dims(frame, tensor), tensor.rank, DTypeSize(static_cast<DType>(tensor.dtype)),
             &raw_size);
  return raw_size;
}

void AddTensor(const ChunkFrame& frame, const TensorFrame& tensor, core::Chunk::Builder* builder) {
  builder->AddTensor(static_cast<DType>(tensor.dtype), Dims(frame, tensor), tensor.rank,
                     tensor.content_offset, tensor.content.remaining());
}

// Where the array of a tensor that is a literal begins in the serialized chunk.
size_t ArrayOffset(const ChunkFrame& frame, const TensorFrame& tensor) {
  Cursor content = tensor.content;
  SkipLiteralHeader(&content, RawSize(frame, tensor));
  return tensor.content_offset + (tensor.content.remaining() - content.remaining());
}

bool AllAreLiterals(const ChunkFrame& frame) {
  return std::all_of(frame.tensors.begin(), frame.tensors.end(), [&](const TensorFrame& tensor) {
    Cursor content = tensor.content;
    return !IsString(tensor) && SkipLiteralHeader(&content, RawSize(frame, tensor));
  });
}

core::ChunkRef ChunkInPieces(const ChunkFrame& frame,
                             std::unique_ptr<const core::ChunkPieces> pieces, size_t size) {
  core::Chunk::Builder builder(frame.header, static_cast<int>(frame.tensors.size()),
                               static_cast<int>(frame.dims.size()), std::move(pieces), size);
  for (const TensorFrame& tensor : frame.tensors) AddTensor(frame, tensor, &builder);
  return std::move(builder).Build();
}

// Copies the chunk, then checks its snappy blocks, which are in one piece there.
Result<core::ChunkRef> CopyChunk(const ChunkFrame& frame, Cursor bytes) {
  const size_t size = bytes.remaining();
  core::Chunk::Builder builder(frame.header, static_cast<int>(frame.tensors.size()),
                               static_cast<int>(frame.dims.size()), size);
  if (!bytes.Copy(builder.bytes(), size)) return InternalError("a message changed while read");
  for (const TensorFrame& tensor : frame.tensors) {
    AddTensor(frame, tensor, &builder);
    if (IsString(tensor)) continue;
    const size_t content_size = tensor.content.remaining();
    const uint64_t raw_size = RawSize(frame, tensor);
    // An array without elements may come without a block.
    if (raw_size == 0 && content_size == 0) continue;
    REVERB_TF_RETURN_IF_ERROR(
        CheckSnappy({builder.bytes() + tensor.content_offset, content_size}, raw_size));
  }
  return std::move(builder).Build();
}

Result<core::ChunkRef> ParseFrame(ChunkFrame frame, const Cursor& serialized,
                                  const KeepPieces& keep_pieces, bool align_arrays) {
  Status status = CheckFrame(&frame);
  if (status.ok()) {
    if (keep_pieces != nullptr && serialized.remaining() >= kMinBytesInPieces &&
        AllAreLiterals(frame)) {
      const bool align = align_arrays && frame.tensors.size() == 1 && frame.header.num_rows == 1;
      return ChunkInPieces(frame,
                           align ? CopyAligned(serialized, ArrayOffset(frame, frame.tensors[0]))
                                 : keep_pieces(serialized),
                           serialized.remaining());
    }
    Result<core::ChunkRef> chunk = CopyChunk(frame, serialized);
    if (chunk.ok()) return chunk;
    status = chunk.status();
  }
  return status.WithContext("Chunk " + std::to_string(frame.header.key));
}

}  // namespace

Result<core::ChunkRef> ParseChunk(const Cursor& serialized, const KeepPieces& keep_pieces,
                                  bool align_arrays) {
  if (serialized.remaining() > kMaxChunkBytes) {
    return InvalidArgumentError("A chunk has " + std::to_string(serialized.remaining()) +
                                " bytes; it must be smaller than 2 GiB");
  }
  ChunkFrame frame;
  if (!ReadChunkFrame(serialized, &frame)) {
    return InvalidArgumentError("A chunk is malformed or cut off: not a ChunkData message of " +
                                std::to_string(serialized.remaining()) + " bytes");
  }
  if (!frame.old_form) return ParseFrame(std::move(frame), serialized, keep_pieces, align_arrays);

  std::string scratch;
  Result<std::string> rewritten = RewriteOldChunk(serialized.View(&scratch));
  if (!rewritten.ok()) {
    return rewritten.status().WithContext("Chunk " + std::to_string(frame.header.key));
  }
  const Cursor present_form(*rewritten);
  ChunkFrame present_frame;
  if (!ReadChunkFrame(present_form, &present_frame) || present_frame.old_form ||
      present_form.remaining() > kMaxChunkBytes) {
    return InvalidArgumentError("A chunk in an old form cannot be brought to the present one");
  }
  return ParseFrame(std::move(present_frame), present_form, nullptr, false);
}

Result<core::ChunkRef> ParseChunk(const Cursor& serialized) {
  return ParseChunk(serialized, nullptr);
}

Result<core::ChunkRef> ParseChunk(std::string_view serialized) {
  return ParseChunk(Cursor(serialized));
}

}  // namespace reverb_tf::wire

#include <cstring>
#include <memory>
#include <string>

#include "cc/wire/chunk_codec.h"
#include "cc/wire/delta.h"
#include "cc/wire/snappy_frame.h"

namespace reverb_tf::wire {
namespace {

int64_t RowElements(const core::ChunkTensor& tensor) {
  int64_t n = 1;
  for (int32_t i = 1; i < tensor.rank; ++i) n *= tensor.dims[i];
  return n;
}

Cursor ContentOf(const core::Chunk& chunk, int tensor) {
  if (chunk.pieces() == nullptr) return Cursor(chunk.content(tensor));
  const std::vector<std::string_view>& views = chunk.pieces()->views();
  Cursor bytes(views.data(), views.size());
  bytes.Skip(chunk.tensor(tensor).content_offset);
  return bytes.First(chunk.tensor(tensor).content_size);
}

// The first `num_rows` rows as they are stored (deltas are deltas) in `out`. All of them must be
// wanted unless the content is a literal.
Status CopyStored(Cursor content, size_t offset, size_t bytes, size_t total, void* out) {
  if (SkipLiteralHeader(&content, total)) {
    content.Skip(offset);
    content.Copy(out, bytes);
    return OkStatus();
  }
  std::string scratch;
  const std::string_view block = content.View(&scratch);
  if (bytes == total) return Decompress(block, out, total);
  const std::unique_ptr<char[]> all(new char[total]);
  REVERB_TF_RETURN_IF_ERROR(Decompress(block, all.get(), total));
  std::memcpy(out, all.get() + offset, bytes);
  return OkStatus();
}

}  // namespace

size_t RowBytes(const core::ChunkTensor& tensor) {
  return static_cast<size_t>(RowElements(tensor)) * DTypeSize(tensor.dtype);
}

Status DecodeRows(const core::Chunk& chunk, int tensor, int64_t first, int64_t count, void* out) {
  const core::ChunkTensor& t = chunk.tensor(tensor);
  const size_t row_bytes = RowBytes(t);
  const size_t bytes = row_bytes * static_cast<size_t>(count);
  if (bytes == 0) return OkStatus();
  const size_t total = row_bytes * static_cast<size_t>(t.dims[0]);
  const size_t offset = row_bytes * static_cast<size_t>(first);
  if (!chunk.header().delta_encoded || !DeltaApplies(t.dtype, t.rank)) {
    return CopyStored(ContentOf(chunk, tensor), offset, bytes, total, out);
  }
  char* rows = static_cast<char*>(out);
  if (first == 0) {
    REVERB_TF_RETURN_IF_ERROR(CopyStored(ContentOf(chunk, tensor), 0, bytes, total, rows));
    DeltaDecode(t.dtype, rows, count, row_bytes);
    return OkStatus();
  }
  // A row is the sum of all differences before it.
  const std::unique_ptr<char[]> prefix(new char[offset + bytes]);
  REVERB_TF_RETURN_IF_ERROR(
      CopyStored(ContentOf(chunk, tensor), 0, offset + bytes, total, prefix.get()));
  DeltaDecode(t.dtype, prefix.get(), first + count, row_bytes);
  std::memcpy(rows, prefix.get() + offset, bytes);
  return OkStatus();
}

const void* ArrayInPlace(const core::Chunk& chunk) {
  if (chunk.num_tensors() != 1 || chunk.header().num_rows != 1 || chunk.pieces() == nullptr ||
      !chunk.pieces()->in_own_memory() || chunk.pieces()->views().size() != 1) {
    return nullptr;
  }
  const size_t bytes = RowBytes(chunk.tensor(0));
  Cursor content = ContentOf(chunk, 0);
  const size_t content_size = content.remaining();
  if (bytes == 0 || !SkipLiteralHeader(&content, bytes)) return nullptr;
  return chunk.pieces()->views()[0].data() + chunk.tensor(0).content_offset +
         (content_size - content.remaining());
}

Status DecodeStrings(const core::Chunk& chunk, int tensor, int64_t first, int64_t count,
                     std::vector<std::string_view>* out) {
  const core::ChunkTensor& t = chunk.tensor(tensor);
  const int64_t row_elements = RowElements(t);
  const int64_t total = row_elements * t.dims[0];
  const int64_t begin = first * row_elements;
  const int64_t end = begin + count * row_elements;
  const std::string_view content = chunk.content(tensor);
  Cursor lengths(content);
  const size_t out_begin = out->size();
  uint64_t skipped = 0;
  for (int64_t i = 0; i < total; ++i) {
    uint64_t length;
    if (!lengths.ReadVarint(&length) || length > content.size()) {
      return DataLossError("a list of strings has a malformed length");
    }
    if (i < begin) skipped += length;
    if (i >= begin && i < end) out->emplace_back(content.data(), length);
  }
  size_t position = content.size() - lengths.remaining() + skipped;
  for (size_t i = out_begin; i < out->size(); ++i) {
    std::string_view& s = (*out)[i];
    if (position > content.size() || s.size() > content.size() - position) {
      return DataLossError("a list of strings is longer than its bytes");
    }
    s = content.substr(position, s.size());
    position += s.size();
  }
  return OkStatus();
}

}  // namespace reverb_tf::wire

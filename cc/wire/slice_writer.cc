#include "cc/wire/slice_writer.h"

#include <cstring>
#include <utility>

namespace reverb_tf::wire {
namespace {

// A reference costs an allocation, a copy of this many bytes about the same.
constexpr size_t kMinReferencedBytes = 4096;

}  // namespace

void SliceWriter::AddChunkBytes(const core::ChunkRef& chunk) {
  if (chunk->pieces() == nullptr) return Add(chunk->bytes(), chunk);
  for (const std::string_view view : chunk->pieces()->views()) Add(view, chunk);
}

void SliceWriter::Add(std::string_view bytes, const core::ChunkRef& chunk) {
  if (bytes.size() < kMinReferencedBytes) {
    std::memcpy(Extend(bytes.size()), bytes.data(), bytes.size());
    return;
  }
  FlushSmall();
  auto* reference = new core::ChunkRef(chunk);
  slices_.emplace_back(
      const_cast<char*>(bytes.data()), bytes.size(),
      [](void* p) { delete static_cast<core::ChunkRef*>(p); }, reference);
  num_bytes_ += bytes.size();
}

void SliceWriter::FlushSmall() {
  if (small_.empty()) return;
  auto* owned = new std::string(std::move(small_));
  slices_.emplace_back(
      owned->data(), owned->size(), [](void* p) { delete static_cast<std::string*>(p); }, owned);
  small_.clear();
}

grpc::ByteBuffer SliceWriter::Finish() {
  FlushSmall();
  grpc::ByteBuffer message(slices_.data(), slices_.size());
  slices_.clear();
  num_bytes_ = 0;
  return message;
}

}  // namespace reverb_tf::wire

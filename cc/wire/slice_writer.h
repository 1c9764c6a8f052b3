// Builds a message out of small pieces that are copied and large ones that are referenced.
#ifndef REVERB_TF_WIRE_SLICE_WRITER_H_
#define REVERB_TF_WIRE_SLICE_WRITER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "cc/core/chunk.h"

namespace reverb_tf::wire {

// Not thread-safe.
class SliceWriter {
 public:
  // `n` more bytes, which the caller fills before the next call.
  char* Extend(size_t n) {
    const size_t begin = small_.size();
    small_.resize(begin + n);
    num_bytes_ += n;
    return small_.data() + begin;
  }
  // The bytes of a chunk. Large ones are referenced: the message then keeps the chunk alive.
  void AddChunkBytes(const core::ChunkRef& chunk);

  size_t num_bytes() const { return num_bytes_; }
  bool empty() const { return num_bytes_ == 0; }

  // Returns the message and starts over.
  grpc::ByteBuffer Finish();

 private:
  // Bytes of a chunk.
  void Add(std::string_view bytes, const core::ChunkRef& chunk);
  void FlushSmall();

  std::vector<grpc::Slice> slices_;
  std::string small_;  // bytes after the last slice
  size_t num_bytes_ = 0;
};

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_SLICE_WRITER_H_

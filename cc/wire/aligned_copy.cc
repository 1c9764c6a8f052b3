#include "cc/wire/aligned_copy.h"

#include <cstdint>

#include "cc/core/buffer_pool.h"
#include "reverb_tf/sample.h"

namespace reverb_tf::wire {
namespace {

class AlignedCopy : public core::ChunkPieces {
 public:
  AlignedCopy(Cursor bytes, size_t array_offset)
      : allocated_(bytes.remaining() + kArrayAlignment - 1),
        memory_(core::BufferPool::Global()->Allocate(allocated_)) {
    const auto array = reinterpret_cast<uintptr_t>(memory_) + array_offset;
    char* const start = static_cast<char*>(memory_) + (-array) % kArrayAlignment;
    views_.emplace_back(start, bytes.remaining());
    bytes.Copy(start, bytes.remaining());
  }
  ~AlignedCopy() override { core::BufferPool::Global()->Free(memory_, allocated_); }
  bool in_own_memory() const override { return true; }
  AlignedCopy(const AlignedCopy&) = delete;
  AlignedCopy& operator=(const AlignedCopy&) = delete;

 private:
  const size_t allocated_;
  void* const memory_;
};

}  // namespace

std::unique_ptr<const core::ChunkPieces> CopyAligned(Cursor bytes, size_t array_offset) {
  return std::make_unique<AlignedCopy>(bytes, array_offset);
}

}  // namespace reverb_tf::wire

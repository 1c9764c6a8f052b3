// A chunk: an immutable run of steps of a set of columns.
#ifndef REVERB_TF_CORE_CHUNK_H_
#define REVERB_TF_CORE_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cc/core/ref_counted.h"
#include "reverb_tf/dtype.h"

namespace reverb_tf::core {

class Chunk;
using ChunkRef = RefPtr<const Chunk>;

// Where one tensor of a chunk lies in Chunk::bytes().
struct ChunkTensor {
  DType dtype;
  int32_t rank;             // >= 1; dims[0] = rows
  const int64_t* dims;      // points into the chunk
  uint32_t content_offset;  // of the encoded elements in Chunk::bytes()
  uint32_t content_size;
};

// Immutable after Build, reference-counted, one heap allocation: this header, then the tensor index and dims, then
// the bytes. Thread-safe.
//
// `bytes` is the chunk as it is on the wire and at rest: a serialized deepmind.reverb.ChunkData (below 2 GiB).
// What is in it is the business of cc/wire; the index makes the tensors reachable without parsing it again.
class Chunk {
 public:
  struct Header {
    uint64_t key = 0;
    uint64_t episode_id = 0;
    int32_t first_step = 0;  // inclusive range of steps in the episode
    int32_t last_step = 0;
    int32_t num_rows = 0;    // of every tensor
    bool sparse = false;     // steps are missing between first_step and last_step
    bool delta_encoded = false;
    uint64_t uncompressed_size = 0;  // of all tensors, bytes
  };

  // Allocates a chunk that the caller fills before it shares it. `total_dims` is the sum of the ranks.
  class Builder {
   public:
    Builder(const Header& header, int num_tensors, int total_dims, size_t num_bytes);
    ~Builder();
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    char* bytes();  // num_bytes to fill
    // Appends a tensor to the index; its content must lie inside the bytes.
    void AddTensor(DType dtype, const int64_t* dims, int rank, size_t content_offset,
                   size_t content_size);
    ChunkRef Build() &&;

   private:
    Chunk* chunk_;
    int dims_used_ = 0;
    int tensors_used_ = 0;
  };

  const Header& header() const { return header_; }
  uint64_t key() const { return header_.key; }
  int num_tensors() const { return num_tensors_; }
  const ChunkTensor& tensor(int i) const { return tensors_[i]; }
  std::string_view bytes() const { return {bytes_, num_bytes_}; }
  std::string_view content(int i) const {
    return {bytes_ + tensors_[i].content_offset, tensors_[i].content_size};
  }
  // Of the whole allocation.
  size_t memory_bytes() const { return memory_bytes_; }

  void Ref() const { refs_.Ref(); }
  void Unref() const;

 private:
  Chunk(const Header& header) : header_(header) {}  // NOLINT: only Builder makes one
  ~Chunk() = default;

  RefCount refs_;
  int32_t num_tensors_ = 0;
  Header header_;
  ChunkTensor* tensors_ = nullptr;
  int64_t* dims_ = nullptr;
  char* bytes_ = nullptr;
  size_t num_bytes_ = 0;
  size_t memory_bytes_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_CHUNK_H_

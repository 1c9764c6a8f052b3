// A chunk: an immutable run of steps of a set of columns.
#ifndef REVERB_TF_CORE_CHUNK_H_
#define REVERB_TF_CORE_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

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

// The memory of a chunk whose bytes lie elsewhere, kept alive by the chunk: what a peer sent, in
// the pieces in which it came, or what a caller gave to be sent. Immutable once a chunk has it.
class ChunkPieces {
 public:
  virtual ~ChunkPieces() = default;
  // Whether they lie in memory that is there for them alone.
  virtual bool in_own_memory() const { return false; }
  // The bytes of the chunk, one after the other.
  const std::vector<std::string_view>& views() const { return views_; }

 protected:
  std::vector<std::string_view> views_;
};

// Immutable after Build, reference-counted, one heap allocation: this header, then the tensor index
// and dims, then the bytes. Thread-safe.
//
// `bytes` is the chunk as it is on the wire and at rest: a serialized deepmind.reverb.ChunkData
// (below 2 GiB). What is in it is the business of cc/wire; the index makes the tensors reachable
// without parsing it again.
//
// A chunk may also be in pieces: its bytes then stay where they were received, or where the array
// to be sent lies. Such chunks are there to be decoded or sent, by cc/wire; tables see none of
// them.
class Chunk {
 public:
  struct Header {
    uint64_t key = 0;
    uint64_t episode_id = 0;
    int32_t first_step = 0;  // inclusive range of steps in the episode
    int32_t last_step = 0;
    int32_t num_rows = 0;  // of every tensor
    bool sparse = false;   // steps are missing between first_step and last_step
    bool delta_encoded = false;
    uint64_t uncompressed_size = 0;  // of all tensors, bytes
  };

  // Allocates a chunk that the caller fills before it shares it: `num_tensors` calls of AddTensor,
  // whose ranks add up to `total_dims`, and `num_bytes` (below 2 GiB) bytes. Anything else ends the
  // process: it is an error of the caller, who has checked what came from a peer.
  class Builder {
   public:
    Builder(const Header& header, int num_tensors, int total_dims, size_t num_bytes);
    // The same for a chunk in pieces, which have `num_bytes` in all.
    Builder(const Header& header, int num_tensors, int total_dims,
            std::unique_ptr<const ChunkPieces> pieces, size_t num_bytes);
    ~Builder();
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    char* bytes();  // num_bytes to fill; not of a chunk in pieces
    // Appends a tensor to the index; its content must lie inside the bytes.
    void AddTensor(DType dtype, const int64_t* dims, int rank, size_t content_offset,
                   size_t content_size);
    ChunkRef Build() &&;

   private:
    static Chunk* Allocate(const Header& header, int num_tensors, int total_dims, size_t num_bytes,
                           bool in_pieces);

    Chunk* chunk_;
    int dims_used_ = 0;
    int tensors_used_ = 0;
  };

  const Header& header() const { return header_; }
  uint64_t key() const { return header_.key; }
  // Differs from that of every other chunk that this process makes.
  uint64_t serial() const { return serial_; }
  int num_tensors() const { return num_tensors_; }
  const ChunkTensor& tensor(int i) const { return tensors()[i]; }
  size_t num_bytes() const { return num_bytes_; }
  // Null unless the chunk is in pieces. If it is, the next two end the process.
  const ChunkPieces* pieces() const {
    return in_pieces_ ? *reinterpret_cast<const ChunkPieces* const*>(Tail()) : nullptr;
  }
  std::string_view bytes() const { return {data(), num_bytes_}; }
  std::string_view content(int i) const {
    return {data() + tensors()[i].content_offset, tensors()[i].content_size};
  }
  // A copy if the chunk is in pieces, else itself.
  static ChunkRef InOnePiece(ChunkRef chunk);
  // Of the whole chunk, wherever its bytes are.
  size_t memory_bytes() const { return BytesOffset(num_tensors_, total_dims_) + num_bytes_; }

  void Ref() const { refs_.Ref(); }
  void Unref() const;

 private:
  // The arrays follow the object; their places follow from their sizes.
  Chunk(const Header& header, int num_tensors, int total_dims, size_t num_bytes, bool in_pieces)
      : num_tensors_(num_tensors),
        header_(header),
        num_bytes_(static_cast<uint32_t>(num_bytes)),
        in_pieces_(in_pieces),
        total_dims_(total_dims),
        serial_(NextSerial()) {}
  ~Chunk() = default;

  static uint64_t NextSerial();
  [[noreturn]] static void EndOfWrongUse();
  static size_t AllocationSize(int num_tensors, int total_dims, size_t num_bytes, bool in_pieces) {
    return BytesOffset(num_tensors, total_dims) + (in_pieces ? sizeof(ChunkPieces*) : num_bytes);
  }
  static size_t BytesOffset(int num_tensors, int total_dims) {
    return sizeof(Chunk) + num_tensors * sizeof(ChunkTensor) + total_dims * sizeof(int64_t);
  }
  const ChunkTensor* tensors() const { return reinterpret_cast<const ChunkTensor*>(this + 1); }
  ChunkTensor* mutable_tensors() { return reinterpret_cast<ChunkTensor*>(this + 1); }
  int64_t* mutable_dims() { return reinterpret_cast<int64_t*>(mutable_tensors() + num_tensors_); }
  // What follows the dims: the bytes, or the pointer to the pieces.
  const char* Tail() const {
    return reinterpret_cast<const char*>(this) + BytesOffset(num_tensors_, total_dims_);
  }
  const char* data() const {
    if (__builtin_expect(in_pieces_, 0)) EndOfWrongUse();
    return Tail();
  }

  RefCount refs_;
  int32_t num_tensors_;
  Header header_;
  uint32_t num_bytes_ : 31;
  uint32_t in_pieces_ : 1;
  int32_t total_dims_;
  uint64_t serial_;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_CHUNK_H_

#include "cc/core/chunk.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cc/core/buffer_pool.h"

namespace reverb_tf::core {
namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "reverb_tf: chunk used wrongly: %s\n", what);
  std::abort();
}

}  // namespace

uint64_t Chunk::NextSerial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

void Chunk::EndOfWrongUse() {
  Require(false, "the bytes of a chunk in pieces are not in one piece");
  std::abort();
}

Chunk* Chunk::Builder::Allocate(const Header& header, int num_tensors, int total_dims,
                                size_t num_bytes, bool in_pieces) {
  Require(num_tensors >= 0 && total_dims >= 0, "negative number of tensors or dimensions");
  Require(num_bytes < (size_t{1} << 31), "2 GiB or more");
  void* memory =
      BufferPool::Global()->Allocate(AllocationSize(num_tensors, total_dims, num_bytes, in_pieces));
  return new (memory) Chunk(header, num_tensors, total_dims, num_bytes, in_pieces);
}

Chunk::Builder::Builder(const Header& header, int num_tensors, int total_dims, size_t num_bytes)
    : chunk_(Allocate(header, num_tensors, total_dims, num_bytes, false)) {}

Chunk::Builder::Builder(const Header& header, int num_tensors, int total_dims,
                        std::unique_ptr<const ChunkPieces> pieces, size_t num_bytes)
    : chunk_(Allocate(header, num_tensors, total_dims, num_bytes, true)) {
  size_t size = 0;
  for (const std::string_view view : pieces->views()) size += view.size();
  Require(size == num_bytes, "pieces of another size than announced");
  new (const_cast<char*>(chunk_->Tail())) const ChunkPieces*(pieces.release());
}

Chunk::Builder::~Builder() {
  if (chunk_ != nullptr) chunk_->Unref();
}

char* Chunk::Builder::bytes() { return const_cast<char*>(chunk_->data()); }

void Chunk::Builder::AddTensor(DType dtype, const int64_t* dims, int rank, size_t content_offset,
                               size_t content_size) {
  Require(tensors_used_ < chunk_->num_tensors_, "more tensors than announced");
  Require(rank >= 1 && rank <= chunk_->total_dims_ - dims_used_, "rank below 1 or too many dims");
  Require(
      content_offset <= chunk_->num_bytes_ && content_size <= chunk_->num_bytes_ - content_offset,
      "content outside of the bytes");
  int64_t* own_dims = chunk_->mutable_dims() + dims_used_;
  std::memcpy(own_dims, dims, rank * sizeof(int64_t));
  new (chunk_->mutable_tensors() + tensors_used_)
      ChunkTensor{dtype, rank, own_dims, static_cast<uint32_t>(content_offset),
                  static_cast<uint32_t>(content_size)};
  dims_used_ += rank;
  ++tensors_used_;
}

ChunkRef Chunk::Builder::Build() && {
  Require(tensors_used_ == chunk_->num_tensors_, "fewer tensors than announced");
  Require(dims_used_ == chunk_->total_dims_, "fewer dims than announced");
  return ChunkRef::Adopt(std::exchange(chunk_, nullptr));
}

ChunkRef Chunk::InOnePiece(ChunkRef chunk) {
  if (chunk->pieces() == nullptr) return chunk;
  Builder builder(chunk->header_, chunk->num_tensors_, chunk->total_dims_, chunk->num_bytes_);
  char* out = builder.bytes();
  for (const std::string_view view : chunk->pieces()->views()) {
    std::memcpy(out, view.data(), view.size());
    out += view.size();
  }
  for (int i = 0; i < chunk->num_tensors_; ++i) {
    const ChunkTensor& tensor = chunk->tensor(i);
    builder.AddTensor(tensor.dtype, tensor.dims, tensor.rank, tensor.content_offset,
                      tensor.content_size);
  }
  return std::move(builder).Build();
}

void Chunk::Unref() const {
  if (!refs_.Unref()) return;
  Chunk* self = const_cast<Chunk*>(this);
  const size_t size = AllocationSize(num_tensors_, total_dims_, num_bytes_, in_pieces_);
  delete pieces();
  self->~Chunk();
  BufferPool::Global()->Free(self, size);
}

}  // namespace reverb_tf::core

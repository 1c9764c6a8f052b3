// Arrays <-> chunks: snappy, literal framing, delta encoding, string packing (spec/wire.md section 4).
#ifndef REVERB_TF_WIRE_CHUNK_CODEC_H_
#define REVERB_TF_WIRE_CHUNK_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cc/core/chunk.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::wire {

// Finds out whether a column is worth compressing: from its first chunks, and again now and then. One per
// column; not thread-safe.
class CompressionAdvisor {
 public:
  // False: frame the bytes as one snappy literal, without trying.
  bool ShouldCompress();
  // What a try gave.
  void Report(size_t raw_bytes, size_t compressed_bytes);

 private:
  int tries_left_ = 3;
  int skip_left_ = 0;
  bool compresses_ = false;
};

// Encodes whole columns of rows (dims[0] = header.num_rows for each) into a chunk, one tensor a column. `advisors` has one
// entry per tensor, or is null: then everything is compressed if that makes it smaller. With
// header.delta_encoded, integer columns of rank >= 2 are delta encoded. INVALID_ARGUMENT for a dtype that cannot
// travel or for more than 2 GiB.
Result<core::ChunkRef> EncodeChunk(core::Chunk::Header header, const TensorView* tensors, int n,
                                   CompressionAdvisor* advisors);

// Reads a serialized deepmind.reverb.ChunkData from a peer into a chunk of its own memory (one copy) and checks
// all of it: shapes, row counts, dtypes, string lengths, the snappy header against dtype and shape. INVALID_ARGUMENT says what
// is wrong. Accepts what spec/wire.md section 7 lists as old forms (deprecated_data, string_val).
Result<core::ChunkRef> ParseChunk(std::string_view serialized);

// Decodes rows [first, first + count) of a tensor into `out` (count * row bytes). Not for kString. Literal frames cost one
// copy; other frames are decompressed straight into `out` when all rows are asked for. The range must be in the chunk.
// DATA_LOSS for bytes that do not decompress.
Status DecodeRows(const core::Chunk& chunk, int tensor, int64_t first, int64_t count, void* out);

// Appends the elements of those rows of a kString tensor; the views point into the chunk.
Status DecodeStrings(const core::Chunk& chunk, int tensor, int64_t first, int64_t count,
                     std::vector<std::string_view>* out);

// Bytes of one decoded row of the tensor; 0 for kString.
size_t RowBytes(const core::ChunkTensor& tensor);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_CHUNK_CODEC_H_

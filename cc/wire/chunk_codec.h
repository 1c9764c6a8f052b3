// Arrays <-> chunks: snappy, literal framing, delta encoding, string packing (spec/wire.md section
// 4).
#ifndef REVERB_TF_WIRE_CHUNK_CODEC_H_
#define REVERB_TF_WIRE_CHUNK_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/wire/compression_advisor.h"
#include "cc/wire/cursor.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::wire {

// All functions are thread-safe (arguments that are written to belong to the caller) and none
// blocks.

// Encodes whole columns of rows (dims[0] = header.num_rows >= 1 for each) into a chunk, one tensor
// a column. `advisors` has one entry per tensor, or is null: then everything is compressed if that
// makes it smaller. With header.delta_encoded, integer columns of rank >= 2 are delta encoded.
// header.uncompressed_size is set here. An incompressible column is copied once. INVALID_ARGUMENT:
// no tensors, a dtype that cannot travel, other row counts, 2 GiB or more.
Result<core::ChunkRef> EncodeChunk(core::Chunk::Header header, const TensorView* tensors, int n,
                                   CompressionAdvisor* advisors);

// The same for one column that `owner` keeps alive and unchanged: if it has kMinBytesInPieces or
// more that do not compress, it is not copied, but stays where it is (Chunk::pieces).
Result<core::ChunkRef> EncodeChunk(core::Chunk::Header header, const TensorView& tensor,
                                   std::shared_ptr<const void> owner, CompressionAdvisor* advisor);
inline constexpr size_t kMinBytesInPieces = size_t{128} << 10;

// Reads a serialized deepmind.reverb.ChunkData from a peer into a chunk of its own memory (one
// copy) and checks all of it: shapes, row counts, dtypes, string lengths, each snappy block against
// dtype and shape. What is accepted decodes. INVALID_ARGUMENT says what is wrong. Accepts the old
// forms (deprecated_data, string_val); such chunks are rewritten to the present one.
Result<core::ChunkRef> ParseChunk(std::string_view serialized);
Result<core::ChunkRef> ParseChunk(const Cursor& serialized);

// Keeps alive the memory that a cursor reads.
using KeepPieces = std::function<std::unique_ptr<const core::ChunkPieces>(const Cursor&)>;
// The same for who decodes the chunk once, soon: one of kMinBytesInPieces or more whose arrays are
// literals (numbers that do not compress) is left in the pieces in which it came, which saves the
// copy. With `align_arrays`, one of them that is a single array of one row is copied so that
// ArrayInPlace finds it at a multiple of kArrayAlignment.
Result<core::ChunkRef> ParseChunk(const Cursor& serialized, const KeepPieces& keep_pieces,
                                  bool align_arrays = false);

// Decodes rows [first, first + count) of a tensor into `out` (count * RowBytes bytes, any
// alignment). Not for kString. Literal frames cost one copy; other frames are decompressed straight
// into `out` when all rows are asked for. The range must be in the chunk. DATA_LOSS for bytes that
// do not decompress.
Status DecodeRows(const core::Chunk& chunk, int tensor, int64_t first, int64_t count, void* out);

// The only row of the only tensor of a chunk in one piece of memory of its own (Chunk::pieces),
// decoded, where it lies; lives as long as the chunk. Null: there are more rows, tensors or pieces,
// it is encoded, or the memory is shared.
const void* ArrayInPlace(const core::Chunk& chunk);

// Appends the elements of those rows of a kString tensor of a chunk in one piece; the views point
// into the chunk. DATA_LOSS for bytes that are not a packed list of so many strings.
Status DecodeStrings(const core::Chunk& chunk, int tensor, int64_t first, int64_t count,
                     std::vector<std::string_view>* out);

// Bytes of one decoded row of the tensor; 0 for kString.
size_t RowBytes(const core::ChunkTensor& tensor);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_CHUNK_CODEC_H_

// Where the parts of a serialized deepmind.reverb.ChunkData lie.
#ifndef REVERB_TF_WIRE_CHUNK_FRAME_H_
#define REVERB_TF_WIRE_CHUNK_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/wire/cursor.h"

namespace reverb_tf::wire {

// One TensorProto as it was found; nothing in it has been checked.
struct TensorFrame {
  int32_t dtype = 0;
  size_t first_dim = 0;  // in ChunkFrame::dims
  int32_t rank = 0;      // dims that were given
  bool unknown_rank = false;
  bool has_string_val = false;
  Cursor content;             // tensor_content
  size_t content_offset = 0;  // of tensor_content in the serialized chunk
};

// One ChunkData as it was found; header.num_rows and header.uncompressed_size are not filled.
struct ChunkFrame {
  core::Chunk::Header header;
  std::vector<TensorFrame> tensors;
  std::vector<int64_t> dims;
  bool old_form = false;         // has deprecated_data or string_val
  int32_t declared_tensors = 0;  // data_tensors_len
};

// False when the bytes are not a ChunkData message. The frame refers to the cursor's memory.
bool ReadChunkFrame(Cursor serialized, ChunkFrame* frame);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_CHUNK_FRAME_H_

#include "cc/wire/chunk_frame.h"

namespace reverb_tf::wire {
namespace {

// Knows the size of the whole chunk, so that a position in any part of it can be told from what
// remains of it.
class FrameReader {
 public:
  explicit FrameReader(ChunkFrame* frame) : frame_(frame) {}

  bool ReadChunk(Cursor chunk) {
    const size_t size = chunk.remaining();
    return ReadMessage(&chunk, [&](uint32_t field, WireType type) {
      switch (field) {
        case 1:
          return type == WireType::kVarint && chunk.ReadVarint(&frame_->header.key);
        case 2: {
          Cursor range;
          return type == WireType::kDelimited && chunk.ReadDelimited(&range) && ReadRange(range);
        }
        case 3:
          frame_->old_form = true;
          return type == WireType::kDelimited && chunk.SkipValue(type);
        case 4:
          return type == WireType::kVarint && chunk.ReadBool(&frame_->header.delta_encoded);
        case 5: {
          Cursor data;
          return type == WireType::kDelimited && chunk.ReadDelimited(&data) &&
                 ReadData(data, size - chunk.remaining());
        }
        case 6:
          return type == WireType::kVarint && chunk.ReadInt32(&frame_->declared_tensors);
        default:
          return chunk.SkipValue(type);
      }
    });
  }

 private:
  bool ReadRange(Cursor range) {
    core::Chunk::Header& header = frame_->header;
    return ReadMessage(&range, [&](uint32_t field, WireType type) {
      switch (field) {
        case 1:
          return type == WireType::kVarint && range.ReadVarint(&header.episode_id);
        case 2:
          return type == WireType::kVarint && range.ReadInt32(&header.first_step);
        case 3:
          return type == WireType::kVarint && range.ReadInt32(&header.last_step);
        case 4:
          return type == WireType::kVarint && range.ReadBool(&header.sparse);
        default:
          return range.SkipValue(type);
      }
    });
  }

  // `end` is the offset in the chunk of the end of `data`; likewise below.
  bool ReadData(Cursor data, size_t end) {
    return ReadMessage(&data, [&](uint32_t field, WireType type) {
      if (field != 1) return data.SkipValue(type);
      Cursor tensor;
      return type == WireType::kDelimited && data.ReadDelimited(&tensor) &&
             ReadTensor(tensor, end - data.remaining());
    });
  }

  bool ReadTensor(Cursor tensor, size_t end) {
    TensorFrame result;
    result.first_dim = frame_->dims.size();
    const bool ok = ReadMessage(&tensor, [&](uint32_t field, WireType type) {
      switch (field) {
        case 1:
          return type == WireType::kVarint && tensor.ReadInt32(&result.dtype);
        case 2: {
          Cursor shape;
          return type == WireType::kDelimited && tensor.ReadDelimited(&shape) &&
                 ReadShape(shape, &result);
        }
        case 4:
          if (type != WireType::kDelimited || !tensor.ReadDelimited(&result.content)) return false;
          result.content_offset = end - tensor.remaining() - result.content.remaining();
          return true;
        case 8:
          result.has_string_val = frame_->old_form = true;
          return type == WireType::kDelimited && tensor.SkipValue(type);
        default:
          return tensor.SkipValue(type);
      }
    });
    frame_->tensors.push_back(result);
    return ok;
  }

  bool ReadShape(Cursor shape, TensorFrame* tensor) {
    return ReadMessage(&shape, [&](uint32_t field, WireType type) {
      switch (field) {
        case 2: {
          Cursor dim;
          int64_t size = 0;
          if (type != WireType::kDelimited || !shape.ReadDelimited(&dim)) return false;
          if (!ReadDim(dim, &size)) return false;
          frame_->dims.push_back(size);
          ++tensor->rank;
          return true;
        }
        case 3:
          return type == WireType::kVarint && shape.ReadBool(&tensor->unknown_rank);
        default:
          return shape.SkipValue(type);
      }
    });
  }

  static bool ReadDim(Cursor dim, int64_t* size) {
    return ReadMessage(&dim, [&](uint32_t field, WireType type) {
      if (field != 1) return dim.SkipValue(type);
      return type == WireType::kVarint && dim.ReadInt64(size);
    });
  }

  ChunkFrame* const frame_;
};

}  // namespace

bool ReadChunkFrame(Cursor serialized, ChunkFrame* frame) {
  return FrameReader(frame).ReadChunk(serialized);
}

}  // namespace reverb_tf::wire

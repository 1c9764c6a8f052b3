// The messages of the two streams, read and written by hand around their bulk (spec/wire.md
// sections 2, 3 and 5).
//
// Small messages (info, unary calls) are ordinary protobuf, see proto/. Objects here are not
// thread-safe.
#ifndef REVERB_TF_WIRE_MESSAGES_H_
#define REVERB_TF_WIRE_MESSAGES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "cc/core/chunk.h"
#include "cc/core/table.h"
#include "cc/wire/cursor.h"
#include "cc/wire/item_codec.h"
#include "cc/wire/message_pieces.h"
#include "cc/wire/slice_writer.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// One InsertStreamRequest as the server sees it. Movable.
class InsertRequestReader {
 public:
  // Parses the frame: chunks become chunks (checked, copied once), items stay bytes until
  // ParseItem. INVALID_ARGUMENT for anything malformed.
  static Result<InsertRequestReader> Parse(const grpc::ByteBuffer& message);

  std::vector<core::ChunkRef>& chunks() { return chunks_; }
  const std::vector<uint64_t>& keep_chunk_keys() const { return keep_chunk_keys_; }
  size_t num_items() const { return items_.size(); }
  // As ParseItem in item_codec.h.
  Result<ParsedItem> ParseItem(size_t i, const ChunkLookup& lookup) const;

 private:
  MessagePieces pieces_;
  std::vector<Cursor> items_;
  std::vector<core::ChunkRef> chunks_;
  std::vector<uint64_t> keep_chunk_keys_;
};

// Builds one InsertStreamRequest. Chunk bytes are referenced, not copied, when they are large.
class InsertRequestWriter {
 public:
  void AddChunk(const core::ChunkRef& chunk);
  void AddItem(const std::string& table, const core::NewItem& item);
  void AddKeepChunkKey(uint64_t key);
  size_t num_bytes() const { return writer_.num_bytes(); }
  bool empty() const { return writer_.empty(); }
  // Returns the message and starts over.
  grpc::ByteBuffer Finish() { return writer_.Finish(); }

 private:
  SliceWriter writer_;
};

// InsertStreamResponse { repeated uint64 keys = 1 } (packed when written; both forms are read).
grpc::ByteBuffer SerializeInsertResponse(const uint64_t* keys, size_t n);
// Appends. INVALID_ARGUMENT for a malformed message.
Status ParseInsertResponse(const grpc::ByteBuffer& message, std::vector<uint64_t>* keys);

// Builds SampleStreamResponses. Chunk bytes are referenced, not copied, when they are large. A
// sample is split over entries and responses by the rule of spec/wire.md 5.2: once a response has
// passed 2 MiB, what remains goes into the next.
class SampleResponseWriter {
 public:
  // `table` is the item's table name. Responses that became full are appended to `out`.
  void AddSample(const std::string& table, const core::SampledItem& sample,
                 std::vector<grpc::ByteBuffer>* out);
  size_t num_bytes() const { return writer_.num_bytes(); }
  bool empty() const { return writer_.empty(); }
  // Returns the last response and starts over. Only if not empty.
  grpc::ByteBuffer Finish() { return writer_.Finish(); }

 private:
  SliceWriter writer_;
};

// Reads SampleStreamResponses in order and puts samples together.
class SampleResponseReader {
 public:
  // Large arrays stay in the pieces in which they came, unless they are to be aligned: see
  // ParseChunk.
  explicit SampleResponseReader(bool align_arrays = false) : align_arrays_(align_arrays) {}

  // Appends each sample that is complete after this message; trajectories are checked as
  // Trajectory::Create says. INTERNAL / INVALID_ARGUMENT for what breaks the protocol; the reader
  // is of no use then.
  Status Read(const grpc::ByteBuffer& message, std::vector<core::SampledItem>* complete);
  // True inside a sample: the stream must not end now.
  bool in_sample() const { return in_sample_; }

 private:
  Status ReadEntry(const MessagePieces& pieces, Cursor entry,
                   std::vector<core::SampledItem>* complete);
  Status FinishSample(Cursor info, core::SampledItem* sample);

  const bool align_arrays_;
  bool in_sample_ = false;
  std::string info_bytes_;  // of a sample that an earlier message began
  std::vector<core::ChunkRef> chunks_;
};

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_MESSAGES_H_

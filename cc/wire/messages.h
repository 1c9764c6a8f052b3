// The messages of the two streams, read and written by hand around their bulk (spec/wire.md sections 2, 3 and 5).
//
// Small messages (info, unary calls) are ordinary protobuf, see proto/.
#ifndef REVERB_TF_WIRE_MESSAGES_H_
#define REVERB_TF_WIRE_MESSAGES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "cc/core/chunk.h"
#include "cc/core/table.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// One InsertStreamRequest as the server sees it.
struct ParsedItem {
  std::string table;
  core::NewItem item;
};
// Finds a chunk that the stream holds; null when it does not.
using ChunkLookup = std::function<core::ChunkRef(uint64_t key)>;

class InsertRequestReader {
 public:
  // Parses the frame: chunks become chunks (checked, copied once), items stay bytes until Items(). INVALID_ARGUMENT for
  // anything malformed.
  static Result<InsertRequestReader> Parse(const grpc::ByteBuffer& message);

  std::vector<core::ChunkRef>& chunks() { return chunks_; }
  const std::vector<uint64_t>& keep_chunk_keys() const { return keep_chunk_keys_; }
  size_t num_items() const { return item_bytes_.size(); }
  // INTERNAL "Could not find sequence chunk K." for an unknown chunk, INVALID_ARGUMENT for the rest.
  Result<ParsedItem> ParseItem(size_t i, const ChunkLookup& lookup) const;

 private:
  std::string storage_;  // of the items
  std::vector<std::string_view> item_bytes_;
  std::vector<core::ChunkRef> chunks_;
  std::vector<uint64_t> keep_chunk_keys_;
};

// Builds one InsertStreamRequest. Chunk bytes are referenced, not copied, when they are large.
class InsertRequestWriter {
 public:
  void AddChunk(const core::ChunkRef& chunk);
  void AddItem(const std::string& table, const core::NewItem& item);
  void AddKeepChunkKey(uint64_t key);
  size_t num_bytes() const;
  bool empty() const;
  // Returns the message and starts over.
  grpc::ByteBuffer Finish();

 private:
  std::vector<grpc::Slice> slices_;
  std::string small_;  // bytes after the last slice
  size_t num_bytes_ = 0;
};

// InsertStreamResponse { repeated uint64 keys = 1 } (packed when written; both forms are read).
grpc::ByteBuffer SerializeInsertResponse(const uint64_t* keys, size_t n);
Status ParseInsertResponse(const grpc::ByteBuffer& message, std::vector<uint64_t>* keys);

// Builds SampleStreamResponses. Chunk bytes are referenced, not copied, when they are large. Samples of the peer are
// split over entries and responses by the rule of spec/wire.md 5.2 (2 MiB).
class SampleResponseWriter {
 public:
  // `table` is the item's table name. Finished messages are appended to `out`.
  void AddSample(const std::string& table, const core::SampledItem& sample,
                 std::vector<grpc::ByteBuffer>* out);
  bool empty() const;
  grpc::ByteBuffer Finish();

 private:
  void AddBytes(std::string_view bytes);
  std::vector<grpc::Slice> slices_;
  std::string small_;
  size_t num_bytes_ = 0;
};

// Reads SampleStreamResponses in order and puts samples together.
class SampleResponseReader {
 public:
  // Appends each sample that is complete after this message; trajectories are checked as Trajectory::Create says.
  // INTERNAL / INVALID_ARGUMENT for what breaks the protocol.
  Status Read(const grpc::ByteBuffer& message, std::vector<core::SampledItem>* complete);
  // True inside a sample: the stream must not end now.
  bool in_sample() const { return in_sample_; }

 private:
  bool in_sample_ = false;
  std::string info_bytes_;
  std::vector<core::ChunkRef> chunks_;
};

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_MESSAGES_H_

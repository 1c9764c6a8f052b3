// A received message in the pieces in which it came.
#ifndef REVERB_TF_WIRE_MESSAGE_PIECES_H_
#define REVERB_TF_WIRE_MESSAGE_PIECES_H_

#include <memory>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "cc/core/chunk.h"
#include "cc/wire/cursor.h"

namespace reverb_tf::wire {

// Keeps the pieces alive. Movable, not thread-safe.
class MessagePieces {
 public:
  // False when the message's memory cannot be had (gRPC ran out of it).
  bool Reset(const grpc::ByteBuffer& message);
  // Valid until the next Reset, also after a move.
  Cursor cursor() const { return Cursor(views_.data(), views_.size()); }
  // What `part`, a cursor of this message, has yet to read, and shared ownership of that memory:
  // the whole pieces that it lies in.
  std::unique_ptr<const core::ChunkPieces> Share(const Cursor& part) const;

 private:
  std::vector<grpc::Slice> slices_;
  std::vector<std::string_view> views_;
};

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_MESSAGE_PIECES_H_

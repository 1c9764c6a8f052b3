#include "cc/wire/message_pieces.h"

namespace reverb_tf::wire {

bool MessagePieces::Reset(const grpc::ByteBuffer& message) {
  slices_.clear();
  views_.clear();
  // An empty message is a valid one and has no pieces.
  if (message.Valid() && message.Length() > 0 && !message.Dump(&slices_).ok()) return false;
  views_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    views_.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return true;
}

}  // namespace reverb_tf::wire

// Messages of raw calls that are ordinary protobuf. (gRPC itself answers UNIMPLEMENTED to a
// malformed request.)
#ifndef REVERB_TF_SERVER_PROTO_MESSAGE_H_
#define REVERB_TF_SERVER_PROTO_MESSAGE_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <string>

#include "reverb_tf/status.h"

namespace reverb_tf::server {

// INVALID_ARGUMENT when the bytes are no such message.
template <typename Message>
Result<Message> ParseMessage(const grpc::ByteBuffer& bytes) {
  Message message;
  grpc::ByteBuffer copy = bytes;  // of references
  grpc::ProtoBufferReader reader(&copy);
  if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
    return InvalidArgumentError("the message is not a " + Message::descriptor()->name());
  }
  return message;
}

template <typename Message>
grpc::ByteBuffer SerializeMessage(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_PROTO_MESSAGE_H_

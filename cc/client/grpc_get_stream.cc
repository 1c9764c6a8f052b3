#include "cc/client/grpc_get_stream.h"

#include <string>

namespace reverb_tf::client {

void GrpcGetStream::HandleMessage(const grpc::ByteBuffer& message) {
  Status status = reader_.Read(message, &items_);
  if (!status.ok()) return Abort(status.WithContext("Malformed answer of the server"));
  if (items_.size() > max_items_) {
    Abort(InternalError("The server sent more items than the " + std::to_string(max_items_) +
                        " that were asked for."));
  }
}

void GrpcGetStream::HandleEnd(const Status& status) {
  const Callback callback = std::exchange(callback_, nullptr);
  if (!status.ok()) return callback(status);
  if (reader_.in_sample()) {
    return callback(InternalError("The server ended its answer inside an item."));
  }
  callback(std::move(items_));
}

}  // namespace reverb_tf::client

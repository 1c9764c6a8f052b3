#include "cc/server/grpc_status.h"

#include <string>

namespace reverb_tf::server {
namespace {

// Peers accept 8 KiB of metadata, and bytes outside ASCII take three there.
constexpr size_t kMaxMessage = 2000;

}  // namespace

grpc::Status ToGrpcStatus(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message = status.message();
  if (message.size() > kMaxMessage) {
    size_t end = kMaxMessage;
    // Not inside a UTF-8 character.
    while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xc0) == 0x80) --end;
    message.resize(end);
    message += "...";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
}

}  // namespace reverb_tf::server

// gRPC's status and ours.
#ifndef REVERB_TF_CLIENT_GRPC_STATUS_H_
#define REVERB_TF_CLIENT_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Codes have the same numbers. "Stream removed" is how gRPC sometimes says that the connection was
// lost.
inline Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return OkStatus();
  if (status.error_code() == grpc::StatusCode::UNKNOWN &&
      status.error_message() == "Stream removed") {
    return UnavailableError(status.error_message());
  }
  return Status(static_cast<StatusCode>(status.error_code()), status.error_message());
}

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_STATUS_H_

// gRPC's status and ours.
#ifndef REVERB_TF_CLIENT_GRPC_STATUS_H_
#define REVERB_TF_CLIENT_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "cc/wire/server_stopped.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Codes have the same numbers. "Stream removed" is how gRPC sometimes says that the connection was
// lost. CANCELLED: the server stops.
inline Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return OkStatus();
  if (status.error_code() == grpc::StatusCode::UNKNOWN &&
      status.error_message() == "Stream removed") {
    return UnavailableError(status.error_message());
  }
  Status result(static_cast<StatusCode>(status.error_code()), status.error_message());
  if (wire::IsServerStopped(result)) return CancelledError(result.message());
  return result;
}

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_STATUS_H_

// Errors on their way to a peer.
#ifndef REVERB_TF_SERVER_GRPC_STATUS_H_
#define REVERB_TF_SERVER_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "reverb_tf/status.h"

namespace reverb_tf::server {

// The same code; the message is cut to what fits into trailing metadata.
grpc::Status ToGrpcStatus(const Status& status);

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_GRPC_STATUS_H_

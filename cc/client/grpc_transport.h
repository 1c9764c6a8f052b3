// Reaches a server over gRPC.
#ifndef REVERB_TF_CLIENT_GRPC_TRANSPORT_H_
#define REVERB_TF_CLIENT_GRPC_TRANSPORT_H_

#include <memory>
#include <string>

#include "cc/client/transport.h"

namespace reverb_tf::client {

// One channel, connected at first use. Transient: UNAVAILABLE, and CANCELLED (the server is
// stopping).
std::shared_ptr<Transport> MakeGrpcTransport(const std::string& address);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_TRANSPORT_H_

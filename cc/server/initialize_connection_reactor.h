// One InitializeConnection call.
#ifndef REVERB_TF_SERVER_INITIALIZE_CONNECTION_REACTOR_H_
#define REVERB_TF_SERVER_INITIALIZE_CONNECTION_REACTOR_H_

#include <grpcpp/support/server_callback.h>

#include "proto/reverb_service.pb.h"

namespace reverb_tf::server {

// Ends the call OK at once, without a message: what peers take as "no shared memory, use
// SampleStream". Addresses are never given out; clients in this process find its servers in
// core::LocalRegistry.
class InitializeConnectionReactor
    : public grpc::ServerBidiReactor<deepmind::reverb::InitializeConnectionRequest,
                                     deepmind::reverb::InitializeConnectionResponse> {
 public:
  InitializeConnectionReactor() { Finish(grpc::Status::OK); }
  void OnDone() override { delete this; }
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_INITIALIZE_CONNECTION_REACTOR_H_

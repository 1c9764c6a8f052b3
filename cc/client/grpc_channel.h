// Channels to servers.
#ifndef REVERB_TF_CLIENT_GRPC_CHANNEL_H_
#define REVERB_TF_CLIENT_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "cc/client/grpc_poller.h"

namespace reverb_tf::client {

// A channel and the poller of its calls. May be let go of on any thread. Everything that refers to
// the channel (stubs, contexts of calls) must go before the last reference to this; so each call
// holds one.
class GrpcChannel {
 public:
  // Does not connect. Plain text, messages of any size, a connection of its own.
  explicit GrpcChannel(const std::string& address);
  GrpcChannel(const GrpcChannel&) = delete;
  GrpcChannel& operator=(const GrpcChannel&) = delete;

  const std::shared_ptr<grpc::Channel>& get() const { return channel_; }
  // Of its calls.
  grpc::CompletionQueue* queue() const { return poller_->queue(); }

 private:
  GrpcPoller* const poller_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Whether the host of the address ("host:port", "[v6]:port", optionally behind "dns:///", "ipv4:"
// or "ipv6:") is this machine by its name or number alone.
bool IsLoopback(const std::string& address);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_CHANNEL_H_

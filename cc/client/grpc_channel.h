// Channels to servers.
#ifndef REVERB_TF_CLIENT_GRPC_CHANNEL_H_
#define REVERB_TF_CLIENT_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

namespace reverb_tf::client {

// Does not connect. Plain text, messages of any size, a connection of its own.
std::shared_ptr<grpc::Channel> MakeGrpcChannel(const std::string& address);

// Whether the host of the address ("host:port", "[v6]:port", optionally behind "dns:///", "ipv4:"
// or "ipv6:") is this machine by its name or number alone.
bool IsLoopback(const std::string& address);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_CHANNEL_H_

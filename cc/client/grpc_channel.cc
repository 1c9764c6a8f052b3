#include "cc/client/grpc_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <string_view>

#include "cc/client/fork_guard.h"
#include "cc/core/malloc_threshold.h"
#include "cc/wire/local_socket.h"
#include "cc/wire/socket_visitor.h"

namespace reverb_tf::client {

bool IsLoopback(const std::string& address) {
  std::string_view host = address;
  for (std::string_view scheme : {"dns:///", "dns:", "ipv4:", "ipv6:"}) {
    if (host.substr(0, scheme.size()) != scheme) continue;
    host.remove_prefix(scheme.size());
    break;
  }
  if (!host.empty() && host[0] == '[') {
    host = host.substr(1, host.find(']') - 1);
  } else if (host.find(':') == host.rfind(':')) {
    host = host.substr(0, host.find(':'));
  }
  return host == "localhost" || host == "::1" || host.substr(0, 4) == "127.";
}

GrpcChannel::GrpcChannel(const std::string& address) : poller_(GrpcPoller::Next()) {
  CheckGrpcUsable().IgnoreError();  // takes note; whoever wants a channel has checked
  core::KeepFreedMemory();
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  args.SetLoadBalancingPolicyName("round_robin");
  // A connection of its own for each client: its own flow control, and its own place on the cores
  // of the server.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A restarted server is found soon. The minimum is also the time that one attempt to connect is
  // given.
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // Servers end connections that are pinged more than once in five minutes. What notices a dead
  // machine sooner is the keepalive timeout, which is also the time that bytes may stay
  // unacknowledged (TCP_USER_TIMEOUT): a call that waits asks the server now and then what it waits
  // for.
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 310 * 1000);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20 * 1000);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (IsLoopback(address)) {
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    // One for all, so that channels can share connections.
    static const auto* const visitor = new wire::SocketVisitor(wire::LimitSendBuffer);
    visitor->AddTo(&args);
  }
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), args);
}

}  // namespace reverb_tf::client

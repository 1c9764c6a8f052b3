// Shows the sockets of gRPC's connections.
#ifndef REVERB_TF_WIRE_SOCKET_VISITOR_H_
#define REVERB_TF_WIRE_SOCKET_VISITOR_H_

#include <grpcpp/support/channel_arguments.h>

#include <functional>

struct grpc_socket_mutator;

namespace reverb_tf::wire {

// Calls `visit` with each socket before gRPC uses it: of a channel, before it connects; of a
// server, after it has accepted the connection. From threads of gRPC's, which it must not block.
//
// gRPC may call on after the end of this object. Channels share connections only if they have the
// same visitor.
class SocketVisitor {
 public:
  explicit SocketVisitor(std::function<void(int socket)> visit);
  ~SocketVisitor();
  SocketVisitor(const SocketVisitor&) = delete;
  SocketVisitor& operator=(const SocketVisitor&) = delete;

  // To the arguments of a channel or a server. Thread-safe.
  void AddTo(grpc::ChannelArguments* args) const;

 private:
  grpc_socket_mutator* const mutator_;
};

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_SOCKET_VISITOR_H_

#include "cc/wire/local_socket.h"

#include <grpc/support/sync.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

// gRPC declares this type, and its way into a channel, but not what is in it. These are the
// declarations of the version that is linked in; local_socket_test sees whether they hold.
enum grpc_fd_usage {
  GRPC_FD_CLIENT_CONNECTION_USAGE,
  GRPC_FD_SERVER_LISTENER_USAGE,
  GRPC_FD_SERVER_CONNECTION_USAGE,
};
struct grpc_mutate_socket_info {
  int fd;
  grpc_fd_usage usage;
};
struct grpc_socket_mutator_vtable {
  bool (*mutate_fd)(int fd, grpc_socket_mutator* mutator);
  int (*compare)(grpc_socket_mutator* a, grpc_socket_mutator* b);
  void (*destroy)(grpc_socket_mutator* mutator);
  bool (*mutate_fd_2)(const grpc_mutate_socket_info* info, grpc_socket_mutator* mutator);
};
struct grpc_socket_mutator {
  const grpc_socket_mutator_vtable* vtable;
  gpr_refcount refcount;
};
void grpc_socket_mutator_init(grpc_socket_mutator* mutator,
                              const grpc_socket_mutator_vtable* vtable);
grpc_socket_mutator* grpc_socket_mutator_ref(grpc_socket_mutator* mutator);

namespace reverb_tf::wire {
namespace {

bool SameAddress(const sockaddr_storage& a, const sockaddr_storage& b) {
  if (a.ss_family != b.ss_family) return false;
  if (a.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  }
  return a.ss_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

// True: the connection goes on, also if the buffer cannot be set.
bool Limit(const grpc_mutate_socket_info* info, grpc_socket_mutator*) {
  const bool local = info->usage == GRPC_FD_CLIENT_CONNECTION_USAGE ||
                     (info->usage == GRPC_FD_SERVER_CONNECTION_USAGE && IsWithinMachine(info->fd));
  if (local) {
    setsockopt(info->fd, SOL_SOCKET, SO_SNDBUF, &kLocalSendBuffer, sizeof(kLocalSendBuffer));
  }
  return true;
}

const grpc_socket_mutator_vtable kVtable = {
    nullptr,
    [](grpc_socket_mutator* a, grpc_socket_mutator* b) { return a < b ? -1 : a > b; },
    [](grpc_socket_mutator*) {},
    Limit,
};

}  // namespace

void LimitLocalSendBuffers(grpc::ChannelArguments* args) {
  static grpc_socket_mutator* const mutator = [] {
    auto* const made = new grpc_socket_mutator;
    grpc_socket_mutator_init(made, &kVtable);
    return made;
  }();
  args->SetSocketMutator(grpc_socket_mutator_ref(mutator));
}

bool IsWithinMachine(int socket) {
  sockaddr_storage own{};
  sockaddr_storage other{};
  socklen_t own_size = sizeof(own);
  socklen_t other_size = sizeof(other);
  return getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         getpeername(socket, reinterpret_cast<sockaddr*>(&other), &other_size) == 0 &&
         SameAddress(own, other);
}

}  // namespace reverb_tf::wire

#include "cc/wire/socket_visitor.h"

#include <grpc/support/sync.h>

#include <utility>

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
void grpc_socket_mutator_unref(grpc_socket_mutator* mutator);

namespace reverb_tf::wire {
namespace {

struct Mutator : grpc_socket_mutator {
  std::function<void(int socket)> visit;
};

// True: the connection goes on.
bool Visit(const grpc_mutate_socket_info* info, grpc_socket_mutator* mutator) {
  if (info->usage != GRPC_FD_SERVER_LISTENER_USAGE) static_cast<Mutator*>(mutator)->visit(info->fd);
  return true;
}

const grpc_socket_mutator_vtable kVtable = {
    nullptr,
    [](grpc_socket_mutator* a, grpc_socket_mutator* b) { return a < b ? -1 : a > b; },
    [](grpc_socket_mutator* mutator) { delete static_cast<Mutator*>(mutator); },
    Visit,
};

grpc_socket_mutator* MakeMutator(std::function<void(int socket)> visit) {
  auto* const mutator = new Mutator;
  mutator->visit = std::move(visit);
  grpc_socket_mutator_init(mutator, &kVtable);
  return mutator;
}

}  // namespace

SocketVisitor::SocketVisitor(std::function<void(int socket)> visit)
    : mutator_(MakeMutator(std::move(visit))) {}

SocketVisitor::~SocketVisitor() { grpc_socket_mutator_unref(mutator_); }

void SocketVisitor::AddTo(grpc::ChannelArguments* args) const {
  args->SetSocketMutator(grpc_socket_mutator_ref(mutator_));
}

}  // namespace reverb_tf::wire

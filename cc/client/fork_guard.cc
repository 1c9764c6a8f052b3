#include "cc/client/fork_guard.h"

#include <grpc/grpc.h>
#include <pthread.h>

namespace reverb_tf::client {
namespace internal {

std::atomic<uint64_t> fork_generation{0};

}  // namespace internal

namespace {

// Once is enough: a child does not get gRPC to run again, also if all channels were closed before
// the fork.
std::atomic<bool> grpc_was_used{false};
std::atomic<bool> grpc_in_use_at_fork{false};
std::atomic<bool> grpc_is_broken{false};

// Registered when the library is loaded: a server may have been started before the first client is
// made.
[[maybe_unused]] const bool registered = [] {
  pthread_atfork(
      [] { grpc_in_use_at_fork.store(grpc_was_used.load() || grpc_is_initialized() != 0); },
      nullptr,
      [] {
        internal::fork_generation.fetch_add(1, std::memory_order_relaxed);
        if (grpc_in_use_at_fork.load(std::memory_order_relaxed)) grpc_is_broken.store(true);
      });
  return true;
}();

}  // namespace

Status ForkGuard::Error() {
  return Status(StatusCode::kFailedPrecondition,
                "This object was made before fork() and cannot be used in the forked child. Make a "
                "new Client "
                "there, in a process started with the 'spawn' or 'forkserver' method.");
}

Status CheckGrpcUsable() {
  if (!grpc_is_broken.load(std::memory_order_relaxed)) {
    grpc_was_used.store(true, std::memory_order_relaxed);  // from now on
    return OkStatus();
  }
  return Status(StatusCode::kFailedPrecondition,
                "This process was forked while its parent used gRPC (a reverb_tf client or "
                "server), which does not "
                "survive fork(). Start the process with the 'spawn' or 'forkserver' method "
                "instead, or fork before "
                "the first use.");
}

}  // namespace reverb_tf::client

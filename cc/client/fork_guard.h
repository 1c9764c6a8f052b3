// Recognises objects that a forked child inherited.
#ifndef REVERB_TF_CLIENT_FORK_GUARD_H_
#define REVERB_TF_CLIENT_FORK_GUARD_H_

#include <atomic>
#include <cstdint>

#include "reverb_tf/status.h"

namespace reverb_tf::client {

namespace internal {
extern std::atomic<uint64_t> fork_generation;  // number of forks between this process and the first
}  // namespace internal

// A member of each object whose state threads share: fork() copies the object, but not the threads,
// and perhaps a locked mutex. Check it before anything is locked. Thread-safe.
class ForkGuard {
 public:
  ForkGuard() : generation_(internal::fork_generation.load(std::memory_order_relaxed)) {}

  // True in a child that was forked after the object was made. Such an object is not even
  // destroyed: leak it.
  bool forked() const {
    return internal::fork_generation.load(std::memory_order_relaxed) != generation_;
  }

  // FAILED_PRECONDITION, saying what to do, if forked().
  Status Check() const { return forked() ? Error() : OkStatus(); }

 private:
  static Status Error();

  const uint64_t generation_;
};

// FAILED_PRECONDITION in a process that was forked while gRPC was in use: its threads are missing
// here, and a call would hang.
Status CheckGrpcUsable();

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_FORK_GUARD_H_

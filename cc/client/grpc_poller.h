// The threads that gRPC's events of clients are handled on.
#ifndef REVERB_TF_CLIENT_GRPC_POLLER_H_
#define REVERB_TF_CLIENT_GRPC_POLLER_H_

#include <grpcpp/completion_queue.h>

#include <functional>
#include <utility>

namespace reverb_tf::client {

// An operation of a call, given to gRPC as its tag.
class GrpcEvent {
 public:
  // Runs on the thread of the call's poller, so it must not block. `ok` as in
  // grpc::CompletionQueue::Next.
  explicit GrpcEvent(std::function<void(bool ok)> handler) : handler_(std::move(handler)) {}
  void Run(bool ok) const { handler_(ok); }

  // What gRPC is given.
  void* tag() const { return const_cast<GrpcEvent*>(this); }

 private:
  const std::function<void(bool)> handler_;
};

// A completion queue and the thread that waits for its events, sends and receives for its calls,
// and runs what handles them.
//
// gRPC's own threads for callbacks are at least two, and wake each other with each event that one
// of them takes: in a large message, that is every few packets. A single one reads on while there
// is something to read. So there are few of these, and calls that use the callback API should not
// be made beside them: they bring gRPC's threads in again.
//
// Lives as long as the process. Thread-safe.
class GrpcPoller {
 public:
  // That of a new channel. The first call starts the threads.
  static GrpcPoller* Next();

  GrpcPoller(const GrpcPoller&) = delete;
  GrpcPoller& operator=(const GrpcPoller&) = delete;

  // Its tags are GrpcEvents.
  grpc::CompletionQueue* queue() { return &queue_; }

 private:
  GrpcPoller();
  [[noreturn]] void Run();

  grpc::CompletionQueue queue_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_POLLER_H_

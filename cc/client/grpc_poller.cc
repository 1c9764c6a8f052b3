#include "cc/client/grpc_poller.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace reverb_tf::client {
namespace {

constexpr size_t kMaxPollers = 8;
// Leaves the others to the program, and to a server beside it.
constexpr size_t kCoresOfAPoller = 4;

}  // namespace

GrpcPoller* GrpcPoller::Next() {
  static const auto* const pollers = [] {
    auto* const made = new std::vector<GrpcPoller*>(
        std::clamp<size_t>(std::thread::hardware_concurrency() / kCoresOfAPoller, 1, kMaxPollers));
    for (GrpcPoller*& poller : *made) poller = new GrpcPoller;
    return made;
  }();
  static std::atomic<size_t> next{0};
  return (*pollers)[next++ % pollers->size()];
}

GrpcPoller::GrpcPoller() {
  std::thread([this] { Run(); }).detach();
}

void GrpcPoller::Run() {
  pthread_setname_np(pthread_self(), "reverb_tf_grpc");
  while (true) {
    void* event = nullptr;
    bool ok = false;
    // Never false: the queue is not shut down.
    queue_.Next(&event, &ok);
    static_cast<const GrpcEvent*>(event)->Run(ok);
  }
}

}  // namespace reverb_tf::client

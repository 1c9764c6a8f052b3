#include "cc/python/process.h"

#include <pthread.h>

#include <atomic>

#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

std::atomic<bool> in_use{false};
std::atomic<bool> forked_after_use{false};

void AfterForkInChild() {
  if (in_use.load(std::memory_order_relaxed))
    forked_after_use.store(true, std::memory_order_relaxed);
}

}  // namespace

void WatchForks() { pthread_atfork(nullptr, nullptr, &AfterForkInChild); }

bool ForkedAfterUse() { return forked_after_use.load(std::memory_order_relaxed); }

void CheckProcess() {
  if (!ForkedAfterUse()) return;
  ThrowStatus(
      FailedPreconditionError("reverb_tf was in use in this process before it was forked, and its "
                              "threads and connections do not exist in the "
                              "child. Start the process with the multiprocessing start method "
                              "'spawn' or 'forkserver', or fork before the first "
                              "Server or Client is created."));
}

void UseProcess() {
  CheckProcess();
  in_use.store(true, std::memory_order_relaxed);
}

}  // namespace reverb_tf::python

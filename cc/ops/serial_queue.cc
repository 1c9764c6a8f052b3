#include "cc/ops/serial_queue.h"

#include <atomic>
#include <memory>
#include <utility>

namespace reverb_tf::ops {

void SerialQueue::Run(Job job) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    jobs_.push_back(std::move(job));
    if (busy_) return;
    busy_ = true;
  }
  Begin();
}

void SerialQueue::Begin() {
  // A loop, not a recursion: jobs that finish before they return may be many.
  while (true) {
    Job job;
    {
      std::lock_guard<std::mutex> lock(mu_);
      if (jobs_.empty()) {
        busy_ = false;
        return;
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    // The later of the two, the end of the job and its return, goes on with the next one.
    const auto first = std::make_shared<std::atomic<bool>>(true);
    job([this, first] {
      if (!first->exchange(false)) Begin();
    });
    if (first->exchange(false)) return;
  }
}

}  // namespace reverb_tf::ops

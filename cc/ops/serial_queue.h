// One thing after the other, without a thread that waits for its turn.
#ifndef REVERB_TF_OPS_SERIAL_QUEUE_H_
#define REVERB_TF_OPS_SERIAL_QUEUE_H_

#include <deque>
#include <functional>
#include <mutex>

namespace reverb_tf::ops {

// Thread-safe. Must live until every job has finished.
class SerialQueue {
 public:
  using Done = std::function<void()>;
  // Calls `done` once, at any time and from any thread, when the next job may begin.
  using Job = std::function<void(Done done)>;

  // Begins the job at once, on this thread, if none is under way; else where the one before it
  // finishes. Jobs begin in the order in which they were given.
  void Run(Job job);

 private:
  void Begin();

  std::mutex mu_;
  std::deque<Job> jobs_;  // guarded by mu_
  bool busy_ = false;     // guarded by mu_
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SERIAL_QUEUE_H_

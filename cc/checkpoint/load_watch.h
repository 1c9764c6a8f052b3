// Progress of a load, and whether it is to go on.
#ifndef REVERB_TF_CHECKPOINT_LOAD_WATCH_H_
#define REVERB_TF_CHECKPOINT_LOAD_WATCH_H_

#include <chrono>
#include <cstdint>

#include "reverb_tf/checkpoint.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// Not thread-safe.
class LoadWatch {
 public:
  explicit LoadWatch(const CheckpointLoadOptions& options) : options_(options) {}

  void AddTotal(int64_t bytes) { total_ += bytes; }
  int64_t total() const { return total_; }

  // `bytes` of the present file are read. CANCELLED when the load was interrupted.
  Status Update(int64_t bytes) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return OkStatus();
    next_ = now + std::chrono::milliseconds(100);
    if (options_.progress) options_.progress(finished_ + bytes, total_);
    if (options_.interrupted && options_.interrupted()) {
      return CancelledError("loading the checkpoint was interrupted");
    }
    return OkStatus();
  }
  // The present file, of so many bytes, is done.
  void FinishFile(int64_t bytes) { finished_ += bytes; }

 private:
  const CheckpointLoadOptions options_;
  int64_t total_ = 0;
  int64_t finished_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_LOAD_WATCH_H_

#include "cc/ops/decode_work.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/lib/core/threadpool.h"

namespace reverb_tf::ops {
namespace {

// Copied in less time than it takes to wake other threads.
constexpr size_t kMinScheduledBytes = size_t{1} << 20;

struct Work {
  std::function<absl::Status(int64_t)> part;
  std::function<void(absl::Status)> done;
  std::vector<absl::Status> statuses;  // each written by its part only, read after the last
  std::atomic<int64_t> left;

  void Finish() const {
    absl::Status first;
    for (const absl::Status& status : statuses) first.Update(status);
    done(first);
  }
};

}  // namespace

void RunDecode(tensorflow::OpKernelContext* ctx, size_t bytes, int64_t n,
               std::function<absl::Status(int64_t)> part, std::function<void(absl::Status)> done) {
  auto work = std::make_shared<Work>();
  work->part = std::move(part);
  work->done = std::move(done);
  work->statuses.resize(n);
  if (bytes < kMinScheduledBytes) {
    for (int64_t i = 0; i < n; ++i) work->statuses[i] = work->part(i);
    return work->Finish();
  }
  work->left = n;
  tensorflow::thread::ThreadPool* const workers =
      ctx->device()->tensorflow_cpu_worker_threads()->workers;
  for (int64_t i = 0; i < n; ++i) {
    workers->Schedule([work, i] {
      work->statuses[i] = work->part(i);
      if (--work->left == 0) work->Finish();
    });
  }
}

}  // namespace reverb_tf::ops

// One call of an asynchronous op, tied to the cancellation of its step.
#ifndef REVERB_TF_OPS_ASYNC_CALL_H_
#define REVERB_TF_OPS_ASYNC_CALL_H_

#include <functional>
#include <memory>
#include <mutex>

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {

// The op ends once, either by its result or by the cancellation of the step:
//
//            Start ------ step is cancelled already ----> done(CANCELLED)
//              |
//           running ----- step is cancelled ------------> done(CANCELLED), then the stop function
//              |
//        Claim() is true
//              |
//     outputs are written --- Finish(status) -----------> done(status)
//
// From Start on the op context belongs to whoever ends the call: it must not be touched before
// Claim() has returned true. Thread-safe.
class AsyncCall {
 public:
  // nullptr, and the call has ended, when the step is already cancelled.
  static std::shared_ptr<AsyncCall> Start(tensorflow::OpKernelContext* ctx,
                                          tensorflow::AsyncOpKernel::DoneCallback done);

  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  // `stop` ends the work whose result is not wanted any more. Called at most once: on cancellation,
  // or at once when that has already happened. It must keep alive what it uses.
  void SetStop(std::function<void()> stop);

  // Whether the result is not wanted any more. It may be so a moment later.
  bool cancelled();

  // To be called once, when the result is there. False: the call was cancelled, the result is to be
  // dropped.
  bool Claim();

  // The two below only after Claim() has returned true.
  tensorflow::OpKernelContext* context() const { return ctx_; }
  void Finish(const absl::Status& status);

 private:
  AsyncCall(tensorflow::OpKernelContext* ctx, tensorflow::AsyncOpKernel::DoneCallback done)
      : ctx_(ctx), manager_(ctx->cancellation_manager()), done_(std::move(done)) {}

  void Cancel();

  tensorflow::OpKernelContext* const ctx_;
  tensorflow::CancellationManager* const manager_;  // may be null
  tensorflow::CancellationToken token_ = 0;
  const tensorflow::AsyncOpKernel::DoneCallback done_;

  std::mutex mu_;
  bool cancelled_ = false;      // guarded by mu_
  std::function<void()> stop_;  // guarded by mu_
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_ASYNC_CALL_H_

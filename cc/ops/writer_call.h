// One call of an op on a trajectory writer.
#ifndef REVERB_TF_OPS_WRITER_CALL_H_
#define REVERB_TF_OPS_WRITER_CALL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "cc/ops/async_call.h"
#include "cc/ops/serial_queue.h"
#include "cc/ops/tf_version.h"
#include "cc/ops/writer_resource.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace reverb_tf::ops {

using WriterPtr = tensorflow::core::RefCountPtr<WriterResource>;

// Ops on one writer take turns, so that several may be started at the same time; no thread waits
// for a turn, nor for the server. Once the step is cancelled the op has ended, and its kernel may
// be gone: what the work needs, it must hold itself.
class WriterCall : public std::enable_shared_from_this<WriterCall> {
 public:
  using Work = std::function<void(const std::shared_ptr<WriterCall>& call)>;
  using Callback = TrajectoryWriter::StatusCallback;
  using StartWait = std::function<std::function<void()>(size_t environment, Callback callback)>;
  using WriteOutputs = std::function<absl::Status(tensorflow::OpKernelContext* ctx)>;

  // Calls `work` when it is this call's turn, unless the step is cancelled by then. It must lead to
  // one call of End.
  static void Start(tensorflow::OpKernelContext* ctx, tensorflow::AsyncOpKernel::DoneCallback done,
                    WriterPtr writer, Work work);

  WriterResource& writer() { return *writer_; }
  WriterResource::Environment& environment(size_t i) { return writer_->environments()[i]; }

  // Starts a wait for each of the environments and calls `then` when all are over: with OK or the
  // first error, which ends the others.
  void WaitForAll(const std::vector<size_t>& environments, const StartWait& start, Callback then);

  // The turn and the op end. `write`, if given, is called when the status is OK and the op was not
  // cancelled.
  void End(const Status& status, const WriteOutputs& write = nullptr);

 private:
  struct Waits;

  WriterCall(WriterPtr writer, std::shared_ptr<AsyncCall> call)
      : writer_(std::move(writer)), call_(std::move(call)) {}

  const WriterPtr writer_;
  const std::shared_ptr<AsyncCall> call_;
  SerialQueue::Done end_turn_;
};

// The attribute timeout_ms; -1: no limit.
absl::Status GetTimeout(tensorflow::OpKernelConstruction* ctx, Duration* timeout);

// The environments that a mask chooses.
std::vector<size_t> ChosenEnvironments(const tensorflow::Tensor& mask);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_WRITER_CALL_H_

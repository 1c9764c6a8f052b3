// Kernels of ReverbTrajectoryWriterFlush and ReverbTrajectoryWriterEndEpisode.
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "cc/ops/tf_version.h"
#include "cc/ops/writer_call.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::Tensor;

// All at once.
void Flush(WriterCall* call, const std::vector<size_t>& environments, int64_t max_pending,
           Duration timeout, WriterCall::Callback then) {
  call->WaitForAll(
      environments,
      [&](size_t environment, WriterCall::Callback callback) {
        return call->environment(environment)
            .writer->FlushAsync(max_pending, timeout, std::move(callback));
      },
      std::move(then));
}

Status EndEpisodes(WriterCall& call, const std::vector<size_t>& environments, bool clear_buffers) {
  WaitOptions at_once;
  at_once.timeout = Duration::zero();
  for (size_t i : environments) {
    const Status status = call.environment(i).writer->EndEpisode(clear_buffers, at_once);
    if (!status.ok()) return call.writer().InEnvironment(i, status);
    call.environment(i).history.EndEpisode(clear_buffers);
  }
  return OkStatus();
}

class FlushKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit FlushKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_pending", &max_pending_));
    OP_REQUIRES_OK(ctx, GetTimeout(ctx, &timeout_));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    WriterPtr writer;
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &writer), done);
    WriterCall::Start(
        ctx, std::move(done), std::move(writer),
        [max_pending = max_pending_, timeout = timeout_](const std::shared_ptr<WriterCall>& call) {
          std::vector<size_t> all(call->writer().environments().size());
          std::iota(all.begin(), all.end(), size_t{0});
          Flush(call.get(), all, max_pending, timeout,
                [call = call.get()](const Status& flushed) { call->End(flushed); });
        });
  }

 private:
  int64_t max_pending_ = 0;
  Duration timeout_ = kInfiniteDuration;
};

class EndEpisodeKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit EndEpisodeKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("clear_buffers", &clear_buffers_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_order", &num_order_));
    OP_REQUIRES_OK(ctx, GetTimeout(ctx, &timeout_));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    WriterPtr writer;
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &writer), done);
    const Tensor& mask = ctx->input(1 + num_order_);
    OP_REQUIRES_OK_ASYNC(ctx, writer->CheckMask(mask), done);
    WriterCall::Start(
        ctx, std::move(done), std::move(writer),
        [environments = ChosenEnvironments(mask), clear = clear_buffers_,
         timeout = timeout_](const std::shared_ptr<WriterCall>& call) {
          Flush(call.get(), environments, 0, timeout,
                [call = call.get(), environments, clear](const Status& flushed) {
                  call->End(flushed.ok() ? EndEpisodes(*call, environments, clear) : flushed);
                });
        });
  }

 private:
  bool clear_buffers_ = true;
  Duration timeout_ = kInfiniteDuration;
  int num_order_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryWriterFlush").Device(tensorflow::DEVICE_CPU),
                        FlushKernel);
REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryWriterEndEpisode").Device(tensorflow::DEVICE_CPU),
                        EndEpisodeKernel);

}  // namespace
}  // namespace reverb_tf::ops

// Kernel of ReverbClientSampleBatch.
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/async_call.h"
#include "cc/ops/client_resource.h"
#include "cc/ops/decode_work.h"
#include "cc/ops/sample_batch.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/sampler.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::Tensor;

// What a call needs until its samples are there. The op context may be gone by then.
struct PendingSamples {
  tensorflow::core::RefCountPtr<ClientResource> resource;
  SamplerPool* pool = nullptr;  // of the resource
  std::string table;
  std::shared_ptr<Sampler> sampler;
  int64_t wanted = 0;

  std::mutex mu;
  // The two below are guarded by mu until all answers are there.
  std::vector<Sample> samples;
  Status status;
  int64_t answers = 0;  // guarded by mu

  // True when it was the last answer.
  bool Add(Result<Sample> sample) {
    std::lock_guard<std::mutex> lock(mu);
    if (sample.ok()) {
      samples.push_back(std::move(sample).value());
    } else if (status.ok()) {
      status = sample.status();
    }
    return ++answers == wanted;
  }
};

absl::Status ReadNumSamples(const Tensor& tensor, int64_t* n) {
  if (!tensorflow::TensorShapeUtils::IsScalar(tensor.shape())) {
    return absl::InvalidArgumentError("num_samples must be a scalar, got shape " +
                                      tensor.shape().DebugString());
  }
  *n = tensor.scalar<int64_t>()();
  if (*n >= 1 && *n <= SamplerPool::kMaxSamples) return absl::OkStatus();
  return absl::InvalidArgumentError("num_samples must be between 1 and " +
                                    std::to_string(SamplerPool::kMaxSamples) + ", got " +
                                    std::to_string(*n));
}

class SampleBatchKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit SampleBatchKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("timesteps", &options_.timesteps));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batched", &options_.batched));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &options_.shapes));
    OP_REQUIRES_OK(ctx, CheckNumShapes(static_cast<int>(options_.shapes.size()),
                                       ctx->num_outputs() - kNumInfoTensors));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto pending = std::make_shared<PendingSamples>();
    OP_REQUIRES_OK_ASYNC(
        ctx,
        tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &pending->resource),
        done);
    OP_REQUIRES_OK_ASYNC(ctx, ReadTableName(ctx->input(1), &pending->table), done);
    OP_REQUIRES_OK_ASYNC(ctx, ReadNumSamples(ctx->input(2), &pending->wanted), done);
    OP_REQUIRES_ASYNC(
        ctx, options_.batched || pending->wanted == 1,
        absl::InvalidArgumentError("num_samples must be 1 where batched is false, got " +
                                   std::to_string(pending->wanted)),
        done);
    pending->pool = options_.timesteps ? &pending->resource->step_samplers()
                                       : &pending->resource->trajectory_samplers();
    Result<std::shared_ptr<Sampler>> sampler = pending->pool->Take(pending->table);
    OP_REQUIRES_ASYNC(ctx, sampler.ok(), ToTf(sampler.status()), done);
    pending->sampler = *sampler;
    pending->samples.reserve(pending->wanted);

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) {
      pending->pool->Put(pending->table, pending->sampler);
      return;
    }
    call->SetStop([sampler = pending->sampler] { sampler->Close(); });
    // The kernel outlives the step, and so every call that Claim() lets through.
    (*sampler)->NextAsync(pending->wanted, [this, call, pending](Result<Sample> sample) {
      if (pending->Add(std::move(sample)) && call->Claim()) Finish(call, pending);
    });
  }

 private:
  void Finish(const std::shared_ptr<AsyncCall>& call,
              const std::shared_ptr<PendingSamples>& pending) const {
    if (!pending->status.ok()) {
      call->Finish(ToTf(pending->status));
      return;
    }
    pending->pool->Put(pending->table, std::move(pending->sampler));
    size_t bytes = 0;
    for (const Sample& sample : pending->samples) bytes += DecodedBytes(sample);
    RunDecode(
        call->context(), bytes, 1,
        [this, call, pending](int64_t) {
          return WriteSamples(call->context(), pending->table, options_, pending->samples);
        },
        [call, pending](const absl::Status& status) {
          pending->samples.clear();
          pending->resource.reset();
          call->Finish(status);
        });
  }

  SampleBatchOptions options_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbClientSampleBatch").Device(tensorflow::DEVICE_CPU),
                        SampleBatchKernel);

}  // namespace
}  // namespace reverb_tf::ops

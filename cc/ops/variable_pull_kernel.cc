// Kernel of ReverbVariablePull.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/async_call.h"
#include "cc/ops/client_resource.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "cc/ops/variable_result.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/sampler.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::Tensor;

// What a call needs until its sample is there. The op context may be gone by then.
struct PendingPull {
  tensorflow::core::RefCountPtr<ClientResource> resource;
  std::string table;
  bool pooled = false;
  std::shared_ptr<Sampler> sampler;

  void ReturnSampler() {
    if (pooled) resource->samplers().Put(table, std::move(sampler));
  }
};

class VariablePullKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit VariablePullKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &output_shapes_));
    OP_REQUIRES(ctx, static_cast<int>(output_shapes_.size()) == ctx->num_outputs(),
                absl::InvalidArgumentError(
                    "output_shapes has " + std::to_string(output_shapes_.size()) +
                    " entries; expected " + std::to_string(ctx->num_outputs()) + "."));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto pending = std::make_shared<PendingPull>();
    OP_REQUIRES_OK_ASYNC(
        ctx,
        tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &pending->resource),
        done);
    OP_REQUIRES_OK_ASYNC(ctx, TakeSampler(ctx, pending.get()), done);

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) {
      pending->ReturnSampler();
      return;
    }
    call->SetStop([sampler = pending->sampler] { sampler->Close(); });
    // The kernel outlives the step, and so every call that Claim() lets through.
    pending->sampler->NextAsync([this, call, pending](Result<Sample> sample) {
      if (!call->Claim()) return;
      absl::Status status = ToTf(sample.status());
      if (sample.ok()) {
        status = WriteVariables(call->context(), pending->table, *sample, output_shapes_, 0);
        pending->ReturnSampler();
      }
      pending->resource.reset();
      call->Finish(status);
    });
  }

 private:
  absl::Status TakeSampler(OpKernelContext* ctx, PendingPull* pending) const {
    for (int i = 1; i < 3; ++i) {
      if (tensorflow::TensorShapeUtils::IsScalar(ctx->input(i).shape())) continue;
      return absl::InvalidArgumentError(std::string(i == 1 ? "table" : "timeout_ms") +
                                        " must be a scalar, got shape " +
                                        ctx->input(i).shape().DebugString());
    }
    pending->table = ctx->input(1).scalar<tensorflow::tstring>()();
    const int64_t timeout_ms = ctx->input(2).scalar<int64_t>()();
    pending->pooled = timeout_ms < 0;
    if (pending->pooled) {
      Result<std::shared_ptr<Sampler>> sampler = pending->resource->samplers().Take(pending->table);
      if (!sampler.ok()) return ToTf(sampler.status());
      pending->sampler = *std::move(sampler);
      return absl::OkStatus();
    }
    SamplerOptions options;
    options.table = pending->table;
    options.max_samples = 1;
    options.max_in_flight_samples_per_worker = 1;
    options.on_demand = true;
    options.timesteps = true;
    options.rate_limiter_timeout = std::chrono::milliseconds(timeout_ms);
    Result<std::unique_ptr<Sampler>> sampler = pending->resource->client().NewSampler(options);
    if (!sampler.ok()) return ToTf(sampler.status());
    pending->sampler = *std::move(sampler);
    return absl::OkStatus();
  }

  std::vector<tensorflow::PartialTensorShape> output_shapes_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbVariablePull").Device(tensorflow::DEVICE_CPU),
                        VariablePullKernel);

}  // namespace
}  // namespace reverb_tf::ops

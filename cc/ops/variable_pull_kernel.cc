// Kernels of ReverbVariablePull and ReverbVariablePullIfNewer.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/async_call.h"
#include "cc/ops/client_resource.h"
#include "cc/ops/scalar_output.h"
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
using ::tensorflow::PartialTensorShape;
using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;

// Longer than anybody waits; in nanoseconds it does not overflow.
constexpr int64_t kLongestMs = int64_t{1} << 40;

// What a call needs until its sample is there. The op context may be gone by then.
struct PendingPull {
  tensorflow::core::RefCountPtr<ClientResource> resource;
  std::string table;
  std::shared_ptr<Sampler> sampler;
  bool pooled = false;  // the sampler goes back when it has delivered

  void ReturnSampler() {
    if (pooled) resource->array_samplers().Put(table, std::move(sampler));
  }
  absl::Status TakeFromPool() {
    Result<std::shared_ptr<Sampler>> taken = resource->array_samplers().Take(table);
    if (!taken.ok()) return ToTf(taken.status());
    sampler = *std::move(taken);
    pooled = true;
    return absl::OkStatus();
  }
  // For one sample.
  absl::Status MakeSampler(SamplerOptions options) {
    options.table = table;
    options.max_samples = 1;
    options.max_in_flight_samples_per_worker = 1;
    options.on_demand = true;
    options.align_arrays = true;
    options.timesteps = true;
    Result<std::unique_ptr<Sampler>> made = resource->client().NewSampler(options);
    if (!made.ok()) return ToTf(made.status());
    sampler = *std::move(made);
    return absl::OkStatus();
  }
};

template <typename T>
absl::Status ReadScalar(OpKernelContext* ctx, const char* name, T* value) {
  const Tensor* tensor = nullptr;
  TF_RETURN_IF_ERROR(ctx->input(name, &tensor));
  if (!tensorflow::TensorShapeUtils::IsScalar(tensor->shape())) {
    return absl::InvalidArgumentError(std::string(name) + " must be a scalar, got shape " +
                                      tensor->shape().DebugString());
  }
  *value = tensor->scalar<T>()();
  return absl::OkStatus();
}

// One sample becomes the last outputs; what is sampled and what comes before it, a subclass says.
class PullKernel : public tensorflow::AsyncOpKernel {
 public:
  PullKernel(tensorflow::OpKernelConstruction* ctx, int first_value)
      : AsyncOpKernel(ctx), first_value_(first_value) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &output_shapes_));
    const int num_values = ctx->num_outputs() - first_value;
    OP_REQUIRES(
        ctx, static_cast<int>(output_shapes_.size()) == num_values,
        absl::InvalidArgumentError("output_shapes has " + std::to_string(output_shapes_.size()) +
                                   " entries; expected " + std::to_string(num_values) + "."));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) final {
    auto pending = std::make_shared<PendingPull>();
    OP_REQUIRES_OK_ASYNC(
        ctx,
        tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &pending->resource),
        done);
    tensorflow::tstring table;
    OP_REQUIRES_OK_ASYNC(ctx, ReadScalar(ctx, "table", &table), done);
    pending->table = table;
    OP_REQUIRES_OK_ASYNC(ctx, Prepare(ctx, pending.get()), done);

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) {
      pending->ReturnSampler();
      return;
    }
    call->SetStop([sampler = pending->sampler] { sampler->Close(); });
    // The kernel outlives the step, and so every call that Claim() lets through.
    pending->sampler->NextAsync([this, call, pending](Result<Sample> sample) {
      if (!call->Claim()) return;
      const absl::Status status = Write(call->context(), *pending, sample);
      if (sample.ok()) pending->ReturnSampler();
      const auto finish = [call, pending](const absl::Status& status) {
        pending->resource.reset();
        call->Finish(status);
      };
      if (!status.ok() || !sample.ok()) return finish(status);
      WriteVariables(call->context(), pending->table, std::move(sample).value(), output_shapes_,
                     first_value_, finish);
    });
  }

 protected:
  // Gives the pending call its sampler.
  virtual absl::Status Prepare(OpKernelContext* ctx, PendingPull* pending) const = 0;
  // Writes all outputs but the values of a sample.
  virtual absl::Status Write(OpKernelContext* ctx, const PendingPull& pending,
                             const Result<Sample>& sample) const = 0;

  static absl::Status NoVersions(const PendingPull& pending) {
    return absl::UnimplementedError("The server at " + pending.resource->client().address() +
                                    " does not count versions: it is dm-reverb or an older "
                                    "release.");
  }

  const int first_value_;
  std::vector<PartialTensorShape> output_shapes_;
};

class VariablePullKernel : public PullKernel {
 public:
  explicit VariablePullKernel(tensorflow::OpKernelConstruction* ctx) : PullKernel(ctx, 1) {}

 private:
  absl::Status Prepare(OpKernelContext* ctx, PendingPull* pending) const override {
    int64_t min_version = 0;
    int64_t timeout_ms = 0;
    TF_RETURN_IF_ERROR(ReadScalar(ctx, "min_version", &min_version));
    TF_RETURN_IF_ERROR(ReadScalar(ctx, "timeout_ms", &timeout_ms));
    if (min_version <= 0 && timeout_ms < 0) return pending->TakeFromPool();
    SamplerOptions options;
    options.min_version = min_version;
    if (timeout_ms >= 0) {
      options.rate_limiter_timeout = std::chrono::milliseconds(std::min(timeout_ms, kLongestMs));
    }
    return pending->MakeSampler(options);
  }

  absl::Status Write(OpKernelContext* ctx, const PendingPull& pending,
                     const Result<Sample>& sample) const override {
    if (!sample.ok()) return ToTf(sample.status());
    int64_t min_version = 0;
    TF_RETURN_IF_ERROR(ReadScalar(ctx, "min_version", &min_version));
    const int64_t version = sample->info().table_version;
    if (min_version > 0 && version < 0) return NoVersions(pending);
    return WriteScalar<int64_t>(ctx, 0, version);
  }
};

// Of a shape as far as it is known: unknown dimensions are 0, an unknown rank is that of a number.
TensorShape SmallestShape(const PartialTensorShape& partial) {
  TensorShape shape;
  for (int i = 0; i < partial.dims(); ++i) shape.AddDim(std::max<int64_t>(partial.dim_size(i), 0));
  return shape;
}

class VariablePullIfNewerKernel : public PullKernel {
 public:
  explicit VariablePullIfNewerKernel(tensorflow::OpKernelConstruction* ctx) : PullKernel(ctx, 2) {
    OP_REQUIRES(ctx,
                num_defaults() == 0 || num_defaults() == static_cast<int>(output_shapes_.size()),
                absl::InvalidArgumentError("There are " + std::to_string(num_defaults()) +
                                           " defaults; expected none or " +
                                           std::to_string(output_shapes_.size()) + "."));
    for (int i = 0; i < num_defaults(); ++i) {
      OP_REQUIRES(
          ctx, input_type(kFirstDefault + i) == output_type(first_value_ + i),
          absl::InvalidArgumentError("Default " + std::to_string(i) + " has the type " +
                                     DataTypeString(input_type(kFirstDefault + i)) + "; expected " +
                                     DataTypeString(output_type(first_value_ + i)) + "."));
    }
  }

 private:
  inline static constexpr int kFirstDefault = 3;

  int num_defaults() const { return num_inputs() - kFirstDefault; }

  absl::Status Prepare(OpKernelContext* ctx, PendingPull* pending) const override {
    for (int i = 0; i < num_defaults(); ++i) {
      const TensorShape& shape = ctx->input(kFirstDefault + i).shape();
      if (output_shapes_[i].IsCompatibleWith(shape)) continue;
      return absl::InvalidArgumentError("Default " + std::to_string(i) + " has shape " +
                                        shape.DebugString() + "; expected " +
                                        output_shapes_[i].DebugString() + ".");
    }
    SamplerOptions options;
    int64_t version = 0;
    TF_RETURN_IF_ERROR(ReadScalar(ctx, "version", &version));
    options.min_version = 0;
    options.unless_version = version;
    options.rate_limiter_timeout = Duration::zero();
    return pending->MakeSampler(options);
  }

  absl::Status Write(OpKernelContext* ctx, const PendingPull& pending,
                     const Result<Sample>& sample) const override {
    if (sample.ok()) {
      const int64_t version = sample->info().table_version;
      if (version < 0) return NoVersions(pending);
      TF_RETURN_IF_ERROR(WriteScalar<int64_t>(ctx, 0, version));
      return WriteScalar<bool>(ctx, 1, true);
    }
    if (!IsRateLimiterTimeout(sample.status())) return ToTf(sample.status());
    int64_t version = 0;
    TF_RETURN_IF_ERROR(ReadScalar(ctx, "version", &version));
    TF_RETURN_IF_ERROR(WriteScalar<int64_t>(ctx, 0, version));
    TF_RETURN_IF_ERROR(WriteScalar<bool>(ctx, 1, false));
    return WriteDefaults(ctx);
  }

  absl::Status WriteDefaults(OpKernelContext* ctx) const {
    for (size_t i = 0; i < output_shapes_.size(); ++i) {
      const int output_index = first_value_ + static_cast<int>(i);
      if (num_defaults() > 0) {
        ctx->set_output(output_index, ctx->input(kFirstDefault + static_cast<int>(i)));
        continue;
      }
      Tensor* output = nullptr;
      TF_RETURN_IF_ERROR(
          ctx->allocate_output(output_index, SmallestShape(output_shapes_[i]), &output));
      if (output->dtype() != tensorflow::DT_STRING)
        std::memset(output->data(), 0, output->TotalBytes());
    }
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("ReverbVariablePull").Device(tensorflow::DEVICE_CPU),
                        VariablePullKernel);
REGISTER_KERNEL_BUILDER(Name("ReverbVariablePullIfNewer").Device(tensorflow::DEVICE_CPU),
                        VariablePullIfNewerKernel);

}  // namespace
}  // namespace reverb_tf::ops

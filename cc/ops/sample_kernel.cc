// Kernel of ReverbClientSample.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/async_call.h"
#include "cc/ops/client_resource.h"
#include "cc/ops/decode_work.h"
#include "cc/ops/scalar_output.h"
#include "cc/ops/shared_tensor.h"
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
using ::tensorflow::TensorShape;

// What a call needs until its sample is there. The op context may be gone by then.
struct PendingSample {
  tensorflow::core::RefCountPtr<ClientResource> resource;
  std::string table;
  std::shared_ptr<Sampler> sampler;
};

absl::Status WriteInfo(OpKernelContext* ctx, const SampleInfo& info) {
  TF_RETURN_IF_ERROR(WriteScalar<uint64_t>(ctx, 0, info.key));
  TF_RETURN_IF_ERROR(WriteScalar<double>(ctx, 1, info.probability));
  TF_RETURN_IF_ERROR(WriteScalar<int64_t>(ctx, 2, info.table_size));
  TF_RETURN_IF_ERROR(WriteScalar<double>(ctx, 3, info.priority));
  return WriteScalar<int32_t>(ctx, 4, info.times_sampled);
}

class SampleKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit SampleKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &output_shapes_));
    OP_REQUIRES_OK(ctx, CheckNumShapes(static_cast<int>(output_shapes_.size()),
                                       ctx->num_outputs() - kNumInfoTensors));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto pending = std::make_shared<PendingSample>();
    OP_REQUIRES_OK_ASYNC(
        ctx,
        tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &pending->resource),
        done);
    OP_REQUIRES_OK_ASYNC(ctx, ReadTableName(ctx->input(1), &pending->table), done);
    Result<std::shared_ptr<Sampler>> sampler =
        pending->resource->array_samplers().Take(pending->table);
    OP_REQUIRES_ASYNC(ctx, sampler.ok(), ToTf(sampler.status()), done);
    pending->sampler = *sampler;

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) {
      pending->resource->array_samplers().Put(pending->table, pending->sampler);
      return;
    }
    call->SetStop([sampler = pending->sampler] { sampler->Close(); });
    // The kernel outlives the step, and so every call that Claim() lets through.
    pending->sampler->NextAsync([this, call, pending](Result<Sample> sample) {
      if (!call->Claim()) return;
      if (!sample.ok()) {
        call->Finish(ToTf(sample.status()));
        return;
      }
      pending->resource->array_samplers().Put(pending->table, std::move(pending->sampler));
      const auto shared = std::make_shared<const Sample>(std::move(sample).value());
      RunDecode(
          call->context(), DecodedBytes(*shared), 1,
          [this, call, pending, shared](int64_t) {
            return WriteOutputs(call->context(), pending->table, *shared);
          },
          [call, pending](const absl::Status& status) {
            pending->resource.reset();
            call->Finish(status);
          });
    });
  }

 private:
  absl::Status WriteOutputs(OpKernelContext* ctx, const std::string& table,
                            const Sample& sample) const {
    TF_RETURN_IF_ERROR(CheckNumColumns(table, sample, ctx->num_outputs() - kNumInfoTensors));
    TF_RETURN_IF_ERROR(WriteInfo(ctx, sample.info()));
    for (int i = 0; i < sample.num_columns(); ++i)
      TF_RETURN_IF_ERROR(WriteColumn(ctx, table, sample, i));
    return absl::OkStatus();
  }

  absl::Status WriteColumn(OpKernelContext* ctx, const std::string& table, const Sample& sample,
                           int i) const {
    const ColumnView column = sample.column(i);
    TensorShape shape;
    TF_RETURN_IF_ERROR(RowShape(column, &shape));
    if (!output_shapes_.empty() && !output_shapes_[i].IsCompatibleWith(shape)) {
      return absl::InvalidArgumentError("Column " + std::to_string(i) + " of table '" + table +
                                        "' has shape " + shape.DebugString() +
                                        " in each step; requested was " +
                                        output_shapes_[i].DebugString() + ".");
    }
    const tensorflow::DataType dtype = ToTf(column.dtype);
    Tensor shared;
    if (ShareFirstRow(sample, i, shape, &shared)) {
      ctx->set_output(kNumInfoTensors + i, shared);
      return absl::OkStatus();
    }
    if (dtype == ctx->expected_output_dtype(kNumInfoTensors + i)) {
      Tensor* output = nullptr;
      TF_RETURN_IF_ERROR(ctx->allocate_output(kNumInfoTensors + i, shape, &output));
      return ReadFirstRow(sample, i, output);
    }
    // TensorFlow refuses an output of another type itself: INTERNAL in a graph, INVALID_ARGUMENT in
    // eager mode.
    Tensor other;
    TF_RETURN_IF_ERROR(ctx->allocate_temp(dtype, shape, &other));
    TF_RETURN_IF_ERROR(ReadFirstRow(sample, i, &other));
    ctx->set_output(kNumInfoTensors + i, other);
    return absl::OkStatus();
  }

  std::vector<tensorflow::PartialTensorShape> output_shapes_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbClientSample").Device(tensorflow::DEVICE_CPU), SampleKernel);

}  // namespace
}  // namespace reverb_tf::ops

// Kernels of ReverbTimestepDataset and ReverbTrajectoryDataset.
#include <string>

#include "cc/ops/sample_dataset.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {
namespace {

template <ElementKind kKind>
class SampleDatasetKernel : public tensorflow::data::DatasetOpKernel {
 public:
  explicit SampleDatasetKernel(tensorflow::OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_in_flight_samples_per_worker",
                                     &options_.max_in_flight_samples_per_worker));
    OP_REQUIRES_OK(ctx,
                   ctx->GetAttr("num_workers_per_iterator", &options_.num_workers_per_iterator));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_samples_per_stream", &options_.max_samples_per_stream));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("rate_limiter_timeout_ms", &options_.rate_limiter_timeout_ms));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_samples", &options_.max_samples));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtypes", &options_.dtypes));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &options_.shapes));
    // Any negative timeout means none.
    if (options_.rate_limiter_timeout_ms < 0) options_.rate_limiter_timeout_ms = -1;
    OP_REQUIRES_OK(ctx, Validate(options_));
  }

 private:
  void MakeDataset(tensorflow::OpKernelContext* ctx,
                   tensorflow::data::DatasetBase** output) override {
    tensorflow::tstring server_address;
    tensorflow::tstring table;
    OP_REQUIRES_OK(ctx,
                   tensorflow::data::ParseScalarArgument(ctx, "server_address", &server_address));
    OP_REQUIRES_OK(ctx, tensorflow::data::ParseScalarArgument(ctx, "table", &table));
    *output = new SampleDataset(ctx, kKind, server_address, table, options_);
  }

  SampleDatasetOptions options_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbTimestepDataset").Device(tensorflow::DEVICE_CPU),
                        SampleDatasetKernel<ElementKind::kTimestep>);
REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryDataset").Device(tensorflow::DEVICE_CPU),
                        SampleDatasetKernel<ElementKind::kTrajectory>);

}  // namespace
}  // namespace reverb_tf::ops

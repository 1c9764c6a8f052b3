// Kernel of ReverbDataset.
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/batch_builder.h"
#include "cc/ops/beta.h"
#include "cc/ops/reverb_dataset.h"
#include "cc/ops/reverb_dataset_names.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {
namespace {

class ReverbDatasetKernel : public tensorflow::data::DatasetOpKernel {
 public:
  explicit ReverbDatasetKernel(tensorflow::OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {
    std::string varying;
    std::string weights;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_size", &options_.batch_size));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("drop_remainder", &options_.drop_remainder));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("varying", &varying));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("weights", &weights));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_workers", &options_.num_workers));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_in_flight", &options_.max_in_flight));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_staleness_samples", &options_.max_staleness_samples));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_staleness_us", &options_.max_staleness_us));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_samples_per_stream", &options_.max_samples_per_stream));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("rate_limiter_timeout_ms", &options_.rate_limiter_timeout_ms));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_samples", &options_.max_samples));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtypes", &options_.dtypes));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &options_.shapes));
    options_.varying = FromName<Varying>(kVaryingNames, varying);
    options_.weights = FromName<Weights>(kWeightsNames, weights);
    OP_REQUIRES_OK(ctx, Validate(options_));
  }

 private:
  void MakeDataset(tensorflow::OpKernelContext* ctx,
                   tensorflow::data::DatasetBase** output) override {
    const tensorflow::Tensor* addresses = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("server_address", &addresses));
    OP_REQUIRES(ctx, addresses->dims() <= 1 && addresses->NumElements() > 0,
                absl::InvalidArgumentError("server_address must be a scalar or a vector of at "
                                           "least one address, got shape " +
                                           addresses->shape().DebugString() + "."));
    const auto flat = addresses->flat<tensorflow::tstring>();
    std::vector<tensorflow::tstring> list(flat.data(), flat.data() + flat.size());
    tensorflow::tstring table;
    OP_REQUIRES_OK(ctx, tensorflow::data::ParseScalarArgument(ctx, "table", &table));
    const tensorflow::Tensor* beta_input = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("beta", &beta_input));
    Beta beta;
    OP_REQUIRES_OK(ctx, Beta::Make(ctx, *beta_input, &beta));
    BatchLayout layout;
    OP_REQUIRES_OK(ctx, BatchLayout::Make(table, options_.batch_size, options_.varying,
                                          options_.dtypes, options_.shapes, &layout));
    *output = new ReverbDataset(ctx, std::move(list), table, std::move(beta), options_,
                                std::move(layout));
  }

  ReverbDatasetOptions options_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbDataset").Device(tensorflow::DEVICE_CPU), ReverbDatasetKernel);

}  // namespace
}  // namespace reverb_tf::ops

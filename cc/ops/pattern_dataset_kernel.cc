// Kernel of ReverbPatternDataset.
#include <memory>
#include <string>
#include <utility>

#include "cc/ops/pattern_dataset.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/step_matcher.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::data::FunctionMetadata;

class PatternDatasetKernel : public tensorflow::data::UnaryDatasetOpKernel {
 public:
  explicit PatternDatasetKernel(tensorflow::OpKernelConstruction* ctx) : UnaryDatasetOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("clear_after_episode", &options_.clear_after_episode));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("configs", &options_.configs));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtypes", &options_.dtypes));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &options_.shapes));
    OP_REQUIRES_OK(ctx, ToTf(StepMatcher::Create(options_.configs).status()));
    OP_REQUIRES_OK(ctx, FunctionMetadata::Create(ctx, "is_end_of_episode",
                                                 FunctionMetadata::Params(), &function_));
    const tensorflow::FunctionDef* const definition =
        function_->lib_def()->Find(function_->func().name());
    OP_REQUIRES(ctx, definition == nullptr || definition->signature().output_arg_size() <= 1,
                absl::InvalidArgumentError(
                    "is_end_of_episode must return one value, got " +
                    std::to_string(definition->signature().output_arg_size()) + "."));
  }

 private:
  void MakeDataset(tensorflow::OpKernelContext* ctx, tensorflow::data::DatasetBase* input,
                   tensorflow::data::DatasetBase** output) override {
    std::unique_ptr<PatternDataset::EndOfEpisode> captured;
    OP_REQUIRES_OK(
        ctx, PatternDataset::EndOfEpisode::Create(ctx, function_, "other_arguments", &captured));
    *output = new PatternDataset(ctx, input, std::move(captured), options_);
  }

  PatternDatasetOptions options_;
  std::shared_ptr<FunctionMetadata> function_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbPatternDataset").Device(tensorflow::DEVICE_CPU),
                        PatternDatasetKernel);

}  // namespace
}  // namespace reverb_tf::ops

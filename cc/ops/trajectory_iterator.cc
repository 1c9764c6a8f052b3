#include "cc/ops/trajectory_iterator.h"

#include <optional>
#include <vector>

#include "cc/ops/sample_element.h"
#include "cc/ops/sample_iterator.h"
#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::Tensor;
using ::tensorflow::data::IteratorContext;

class TrajectoryIterator : public SampleIterator {
 public:
  using SampleIterator::SampleIterator;

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    std::optional<Sample> sample;
    TF_RETURN_IF_ERROR(NextSample(ctx, &sample));
    *end_of_sequence = !sample.has_value();
    if (*end_of_sequence) return absl::OkStatus();
    out_tensors->reserve(kNumInfoTensors + sample->num_columns());
    AppendInfo(ctx->allocator({}), sample->info(), out_tensors);
    return AppendColumns(ctx->allocator({}), *sample, out_tensors);
  }
};

}  // namespace

std::unique_ptr<tensorflow::data::IteratorBase> MakeTrajectoryIterator(const SampleDataset* dataset,
                                                                       const std::string& prefix) {
  return std::make_unique<TrajectoryIterator>(TrajectoryIterator::Params{dataset, prefix});
}

}  // namespace reverb_tf::ops

#include "cc/ops/trajectory_iterator.h"

#include <optional>
#include <vector>

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
    AppendInfo(ctx, sample->info(), out_tensors);
    for (int i = 0; i < sample->num_columns(); ++i) {
      const ColumnView column = sample->column(i);
      tensorflow::TensorShape shape;
      TF_RETURN_IF_ERROR(ColumnShape(column, &shape));
      out_tensors->emplace_back(ctx->allocator({}), ToTf(column.dtype), shape);
      TF_RETURN_IF_ERROR(ReadColumn(*sample, i, &out_tensors->back()));
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<tensorflow::data::IteratorBase> MakeTrajectoryIterator(const SampleDataset* dataset,
                                                                       const std::string& prefix) {
  return std::make_unique<TrajectoryIterator>(TrajectoryIterator::Params{dataset, prefix});
}

}  // namespace reverb_tf::ops

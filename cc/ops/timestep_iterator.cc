#include "cc/ops/timestep_iterator.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cc/ops/sample_element.h"
#include "cc/ops/sample_iterator.h"
#include "cc/ops/tf_convert.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;
using ::tensorflow::data::IteratorContext;

// A sample whose columns are decoded: a step of it is then a copy.
struct Item {
  SampleInfo info;
  int64_t num_steps = 0;
  std::vector<Tensor> columns;  // the leading axis has the steps
};

absl::Status DecodeItem(IteratorContext* ctx, const Sample& sample, Item* item) {
  item->info = sample.info();
  for (int i = 0; i < sample.num_columns(); ++i) {
    const ColumnView column = sample.column(i);
    item->num_steps = column.num_rows;  // the same in all: the sampler checks it
    TensorShape shape;
    TF_RETURN_IF_ERROR(RowShape(column, &shape));
    shape.InsertDim(0, column.num_rows);
    item->columns.emplace_back(ctx->allocator({}), ToTf(column.dtype), shape);
    TF_RETURN_IF_ERROR(ReadColumn(sample, i, &item->columns.back()));
  }
  return absl::OkStatus();
}

// A step of a column, in memory that is its own: a slice would be unaligned and keep the whole
// column.
Tensor CopyStep(const Tensor& column, int64_t step) {
  const Tensor slice = column.SubSlice(step);
  return column.dim_size(0) == 1 ? slice : tensorflow::tensor::DeepCopy(slice);
}

class TimestepIterator : public SampleIterator {
 public:
  using SampleIterator::SampleIterator;

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    *end_of_sequence = false;
    Step step;
    while (!TakeStep(&step)) {
      std::optional<Sample> sample;
      TF_RETURN_IF_ERROR(NextSample(ctx, &sample));
      if (!sample.has_value()) {
        if (TakeStep(&step)) break;  // of another thread's item
        *end_of_sequence = true;
        return absl::OkStatus();
      }
      auto item = std::make_shared<Item>();
      TF_RETURN_IF_ERROR(DecodeItem(ctx, *sample, item.get()));
      AddItem(std::move(item));
    }
    out_tensors->reserve(kNumInfoTensors + step.item->columns.size());
    AppendInfo(ctx->allocator({}), step.item->info, out_tensors);
    for (const Tensor& column : step.item->columns)
      out_tensors->push_back(CopyStep(column, step.index));
    return absl::OkStatus();
  }

 private:
  struct Step {
    std::shared_ptr<const Item> item;
    int64_t index = 0;
  };

  void AddItem(std::shared_ptr<const Item> item) {
    std::lock_guard<std::mutex> lock(mu_);
    items_.push_back(std::move(item));
  }

  // The next step of the oldest item; false when there is none. Items without steps are dropped.
  bool TakeStep(Step* step) {
    std::lock_guard<std::mutex> lock(mu_);
    while (!items_.empty() && next_step_ >= items_.front()->num_steps) {
      items_.pop_front();
      next_step_ = 0;
    }
    if (items_.empty()) return false;
    *step = {items_.front(), next_step_++};
    return true;
  }

  // One item, unless several threads wait for samples.
  std::mutex mu_;
  std::deque<std::shared_ptr<const Item>> items_;  // guarded by mu_
  int64_t next_step_ = 0;                          // of the first item; guarded by mu_
};

}  // namespace

std::unique_ptr<tensorflow::data::IteratorBase> MakeTimestepIterator(const SampleDataset* dataset,
                                                                     const std::string& prefix) {
  return std::make_unique<TimestepIterator>(TimestepIterator::Params{dataset, prefix});
}

}  // namespace reverb_tf::ops

#include "cc/ops/pattern_iterator.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "cc/ops/tf_convert.h"
#include "reverb_tf/step_matcher.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::Tensor;
using ::tensorflow::data::IteratorContext;
using Step = std::vector<Tensor>;

// Copies `row` into row i of `column`, whose rows have its dtype and shape.
void CopyRow(const Tensor& row, int64_t i, Tensor* column) {
  Tensor target = column->SubSlice(i);
  if (row.dtype() == tensorflow::DT_STRING) {
    target.unaligned_flat<tensorflow::tstring>() = row.unaligned_flat<tensorflow::tstring>();
  } else if (row.TotalBytes() > 0) {
    std::memcpy(target.data(), row.data(), row.TotalBytes());
  }
}

// The values one after the other along a new leading axis.
absl::Status Stack(IteratorContext* ctx, const std::vector<const Tensor*>& rows, Tensor* column) {
  const Tensor& first = *rows.front();
  if (first.dtype() != tensorflow::DT_STRING && !tensorflow::DataTypeCanUseMemcpy(first.dtype())) {
    return absl::InvalidArgumentError("Values of dtype " +
                                      tensorflow::DataTypeString(first.dtype()) +
                                      " cannot be put one after the other.");
  }
  tensorflow::TensorShape shape = first.shape();
  shape.InsertDim(0, static_cast<int64_t>(rows.size()));
  *column = Tensor(ctx->allocator({}), first.dtype(), shape);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->dtype() != first.dtype() || rows[i]->shape() != first.shape()) {
      return absl::InvalidArgumentError(
          "A trajectory has values of different dtypes or shapes in one column: " +
          first.DebugString(0) + " and " + rows[i]->DebugString(0));
    }
    CopyRow(*rows[i], static_cast<int64_t>(i), column);
  }
  return absl::OkStatus();
}

class PatternIterator : public tensorflow::data::DatasetIterator<PatternDataset> {
 public:
  explicit PatternIterator(const Params& params) : DatasetIterator<PatternDataset>(params) {}

  absl::Status Initialize(IteratorContext* ctx) override {
    Result<std::unique_ptr<StepMatcher>> matcher =
        StepMatcher::Create(dataset()->options().configs);
    if (!matcher.ok()) return ToTf(matcher.status());
    matcher_ = std::move(matcher).value();
    TF_RETURN_IF_ERROR(dataset()->input().MakeIterator(ctx, this, prefix(), &input_));
    return dataset()->is_end_of_episode().Instantiate(ctx, &is_end_of_episode_);
  }

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    std::lock_guard<std::mutex> lock(mu_);
    *end_of_sequence = false;
    while (ready_.empty()) {
      if (input_ == nullptr) {
        *end_of_sequence = true;
        return absl::OkStatus();
      }
      Step step;
      bool input_ended = false;
      TF_RETURN_IF_ERROR(input_->GetNext(ctx, &step, &input_ended));
      if (input_ended) {
        input_.reset();
      } else {
        TF_RETURN_IF_ERROR(AddStep(ctx, std::move(step)));
      }
    }
    *out_tensors = std::move(ready_.front());
    ready_.pop_front();
    return absl::OkStatus();
  }

 protected:
  absl::Status SaveInternal(tensorflow::data::SerializationContext* ctx,
                            tensorflow::data::IteratorStateWriter* writer) override {
    return absl::UnimplementedError("SaveInternal is currently not supported.");
  }

  absl::Status RestoreInternal(IteratorContext* ctx,
                               tensorflow::data::IteratorStateReader* reader) override {
    return absl::UnimplementedError("RestoreInternal is currently not supported.");
  }

 private:
  absl::Status AddStep(IteratorContext* ctx, Step step) {
    bool is_end = false;
    TF_RETURN_IF_ERROR(CallIsEndOfEpisode(ctx, step, &is_end));
    TensorViews views;
    for (const Tensor& tensor : step) views.Add(tensor);
    StepMatcher::Items items;
    TF_RETURN_IF_ERROR(ToTf(matcher_->Append(views.data(), views.size(), &items)));
    steps_.push_back(std::move(step));
    ++num_steps_;
    if (steps_.size() > static_cast<size_t>(matcher_->history())) steps_.pop_front();
    TF_RETURN_IF_ERROR(MakeTrajectories(ctx, items));
    if (!is_end) return absl::OkStatus();
    matcher_->EndEpisode(dataset()->options().clear_after_episode, &items);
    return MakeTrajectories(ctx, items);
  }

  absl::Status CallIsEndOfEpisode(IteratorContext* ctx, const Step& step, bool* is_end) {
    std::vector<Tensor> result;
    TF_RETURN_IF_ERROR(is_end_of_episode_->RunWithBorrowedArgs(ctx, step, &result, model_node()));
    if (result.size() != 1 || result[0].dtype() != tensorflow::DT_BOOL ||
        result[0].NumElements() != 1) {
      return absl::InvalidArgumentError(
          "is_end_of_episode must return one bool, got " + std::to_string(result.size()) +
          " values" + (result.empty() ? "" : ", the first of them " + result[0].DebugString(1)) +
          ".");
    }
    *is_end = result[0].flat<bool>()(0);
    return absl::OkStatus();
  }

  // Appends them to ready_.
  absl::Status MakeTrajectories(IteratorContext* ctx, const StepMatcher::Items& items) {
    for (const std::vector<ItemColumn>& item : items) {
      std::vector<Tensor> trajectory;
      trajectory.reserve(item.size());
      for (const ItemColumn& column : item) {
        std::vector<const Tensor*> rows = Rows(column);
        if (column.squeeze) {
          trajectory.push_back(*rows.front());
          continue;
        }
        Tensor stacked;
        TF_RETURN_IF_ERROR(Stack(ctx, rows, &stacked));
        trajectory.push_back(std::move(stacked));
      }
      ready_.push_back(std::move(trajectory));
    }
    return absl::OkStatus();
  }

  std::vector<const Tensor*> Rows(const ItemColumn& column) const {
    const int64_t oldest = num_steps_ - static_cast<int64_t>(steps_.size());
    std::vector<const Tensor*> rows;
    for (const RowRange& range : column.ranges) {
      for (int64_t i = range.first; i < range.first + range.length; ++i)
        rows.push_back(&steps_[i - oldest][range.column]);
    }
    return rows;
  }

  std::mutex mu_;  // guards all below
  std::unique_ptr<StepMatcher> matcher_;
  std::unique_ptr<tensorflow::data::IteratorBase> input_;  // null: it has ended
  std::unique_ptr<tensorflow::data::InstantiatedCapturedFunction> is_end_of_episode_;
  std::deque<Step> steps_;  // the newest
  int64_t num_steps_ = 0;   // ever
  std::deque<std::vector<Tensor>> ready_;
};

}  // namespace

std::unique_ptr<tensorflow::data::IteratorBase> MakePatternIterator(const PatternDataset* dataset,
                                                                    const std::string& prefix) {
  return std::make_unique<PatternIterator>(PatternIterator::Params{dataset, prefix});
}

}  // namespace reverb_tf::ops

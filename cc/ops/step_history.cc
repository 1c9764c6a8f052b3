#include "cc/ops/step_history.h"

#include <algorithm>

namespace reverb_tf::ops {
namespace {

std::string ChoiceText(const StepChoice& choice) {
  const std::string start = std::to_string(choice.start);
  if (choice.squeeze) return "[" + start + "]";
  return "[" + start + ":" + (choice.stop == StepChoice::kEnd ? "" : std::to_string(choice.stop)) +
         "]";
}

}  // namespace

bool StepHistory::IsSet(int32_t column) const { return open_ && Row(size_ - 1, column) >= 0; }

void StepHistory::Append(const StepRef* refs, bool partial) {
  if (!open_) {
    const int64_t step = size_++;
    if (step < capacity_) rows_.resize(static_cast<size_t>((step + 1) * num_columns_));
    for (int32_t i = 0; i < num_columns_; ++i) Row(step, i) = -1;
  }
  for (int32_t i = 0; i < num_columns_; ++i) {
    if (refs[i].column >= 0) Row(size_ - 1, i) = refs[i].row;
  }
  open_ = partial;
}

void StepHistory::EndEpisode(bool clear) {
  open_ = false;
  if (!clear) return;
  size_ = 0;
  rows_.clear();
}

bool StepHistory::Has(const StepChoice& choice) const {
  const int64_t start = FromEnd(choice.start);
  if (start < 0 || start >= size_) return false;
  if (choice.squeeze || choice.stop == StepChoice::kEnd) return true;
  const int64_t stop = FromEnd(choice.stop);
  return stop > start && stop <= size_;
}

Status StepHistory::Choose(const StepChoice& choice, bool clip, const std::string& path,
                           ItemColumn* column) const {
  column->squeeze = choice.squeeze;
  if ((choice.squeeze || !clip) && !Has(choice)) return MissingSteps(choice, path);
  if (choice.squeeze) return AddRow(FromEnd(choice.start), choice, path, column);
  const int64_t start = std::clamp<int64_t>(FromEnd(choice.start), 0, size_);
  const int64_t stop = std::clamp<int64_t>(FromEnd(choice.stop), 0, size_);
  if (stop <= start) return MissingSteps(choice, path);
  for (int64_t step = start; step < stop; ++step) {
    REVERB_TF_RETURN_IF_ERROR(AddRow(step, choice, path, column));
  }
  return OkStatus();
}

Status StepHistory::AddRow(int64_t step, const StepChoice& choice, const std::string& path,
                           ItemColumn* column) const {
  const bool dropped = step < size_ - capacity_;
  const int64_t row = dropped ? -1 : Row(step, choice.column);
  if (row < 0) {
    return InvalidArgumentError("Step " + std::to_string(step) + " of column " + path +
                                ", which the item asks for with " + ChoiceText(choice) +
                                (dropped ? ", is older than the " + std::to_string(capacity_) +
                                               " steps that are kept (num_keep_alive_refs)."
                                         : ", was not set."));
  }
  if (!column->ranges.empty()) {
    RowRange& last = column->ranges.back();
    if (last.first + last.length == row) {
      ++last.length;
      return OkStatus();
    }
  }
  column->ranges.push_back({choice.column, row, 1});
  return OkStatus();
}

Status StepHistory::MissingSteps(const StepChoice& choice, const std::string& path) const {
  return InvalidArgumentError("The item asks for " + ChoiceText(choice) + " of column " + path +
                              ", but the episode has " + std::to_string(size_) + " steps so far.");
}

}  // namespace reverb_tf::ops

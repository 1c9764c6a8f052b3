// Which rows of a trajectory writer are the newest steps of an episode, and how items choose them.
#ifndef REVERB_TF_OPS_STEP_HISTORY_H_
#define REVERB_TF_OPS_STEP_HISTORY_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "reverb_tf/status.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::ops {

// What an item has of one column. Steps count from the start of the episode; negative numbers count
// from its end.
struct StepChoice {
  inline static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

  int32_t column = 0;
  int64_t start = 0;
  int64_t stop = kEnd;   // exclusive; kEnd: all that there are
  bool squeeze = false;  // one step, `start`
};

// What becomes of an item that asks for steps which the episode does not have.
enum class ShortEpisode {
  kClip,   // it has those that are there, as a slice in Python
  kError,  // INVALID_ARGUMENT
  kSkip,   // there is no item
};

// Counts the steps of an episode (one that is still open, too) but knows only the newest
// `capacity`. Not thread-safe.
class StepHistory {
 public:
  StepHistory(int32_t num_columns, int64_t capacity)
      : num_columns_(num_columns), capacity_(capacity) {}

  int64_t size() const { return size_; }
  // Whether the open step has a value of the column.
  bool IsSet(int32_t column) const;

  // What TrajectoryWriter::Append said: a new step, or more of the one that is open.
  void Append(const StepRef* refs, bool partial);
  void EndEpisode(bool clear);

  // Whether the episode has every step of the choice.
  bool Has(const StepChoice& choice) const;
  // Adds the rows of the choice. `path` is the column's, for errors: INVALID_ARGUMENT for a step
  // that does not exist, was not set or is not kept any more, and for no steps at all.
  Status Choose(const StepChoice& choice, bool clip, const std::string& path,
                ItemColumn* column) const;

 private:
  int64_t FromEnd(int64_t step) const { return step < 0 ? step + size_ : step; }
  int64_t& Row(int64_t step, int32_t column) {
    return rows_[static_cast<size_t>(step % capacity_ * num_columns_ + column)];
  }
  int64_t Row(int64_t step, int32_t column) const {
    return const_cast<StepHistory*>(this)->Row(step, column);
  }
  Status AddRow(int64_t step, const StepChoice& choice, const std::string& path,
                ItemColumn* column) const;
  Status MissingSteps(const StepChoice& choice, const std::string& path) const;

  const int32_t num_columns_;
  const int64_t capacity_;
  int64_t size_ = 0;
  bool open_ = false;
  std::vector<int64_t> rows_;  // of the kept steps, a ring; -1: not set
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_STEP_HISTORY_H_

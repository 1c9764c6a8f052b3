// Which rows each pattern chooses after a step. Knows nothing of servers and chunks.
#ifndef REVERB_TF_CLIENT_STRUCTURED_WRITER_MATCHER_H_
#define REVERB_TF_CLIENT_STRUCTURED_WRITER_MATCHER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cc/client/structured_writer_config.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::client {

// An item to be made. Valid until the matcher's next FindMatches.
struct PatternMatch {
  const std::string* table = nullptr;
  double priority = 0;
  const std::vector<ItemColumn>* columns = nullptr;
};

// Remembers, of the newest steps that patterns reach back to, which row of each column belongs to
// them, and the numbers that conditions and priorities need. Not thread-safe.
class PatternMatcher {
 public:
  explicit PatternMatcher(std::vector<PatternConfig> configs);
  PatternMatcher(const PatternMatcher&) = delete;  // states point to configs
  PatternMatcher& operator=(const PatternMatcher&) = delete;

  // How many of the newest steps are needed, by any config.
  int32_t history() const { return history_; }
  // Whether a node or a condition uses the column.
  bool uses_column(int32_t column) const;
  bool step_is_open() const { return step_is_open_; }

  // Whether the values can be added: the errors of StructuredWriter::Append that concern values.
  Status Check(const TensorView* values, int32_t n) const;
  // Adds a step, or a part of one; after Check. refs[i] is where values[i] was stored; looks at the
  // columns that are used only.
  void Add(const TensorView* values, int32_t n, const StepRef* refs, bool partial);

  // Fills `matches` with what the newest step makes due. A config is in it once a step at most,
  // however often this is called.
  void FindMatches(bool end_of_episode, std::vector<PatternMatch>* matches);

  // The next step begins another episode. With `clear_buffers` the steps so far are forgotten.
  void EndEpisode(bool clear_buffers);

 private:
  // Wide enough for int64 and uint64.
  using Integer = __int128;

  struct Column {
    int32_t number = 0;  // among the values
    bool in_condition = false;
    bool in_priority = false;
    std::optional<Integer> newest;  // in_condition: in the newest step
    bool warned = false;
  };
  // A column in a step.
  struct Cell {
    int64_t row = -1;   // -1: absent
    double number = 0;  // of columns in priorities
  };
  struct State {
    PatternConfig config;
    std::vector<int32_t> node_columns;       // index in columns_ of each node's column
    std::vector<int32_t> condition_columns;  // and of each condition's, if it looks at one
    std::vector<ItemColumn> columns;         // of the last match
    int64_t counted_step = -1;               // in steps_since_applied
    int64_t applied_step = -1;
    int64_t steps_since_applied = 0;
  };

  void FindColumns(const std::vector<PatternConfig>& configs);
  // In columns_; -1: not used.
  int32_t ColumnIndex(int32_t number) const;
  State MakeState(PatternConfig config) const;
  const Cell& cell(int32_t column_index, int32_t age) const;
  void SetCell(Column* column, Cell* cell, const TensorView& value, int64_t row);
  bool NewestIsEmpty() const;
  // Nothing: the column is absent or holds no integer.
  std::optional<Integer> LeftOf(const State& state, size_t condition, bool end_of_episode) const;
  bool Holds(const State& state, size_t condition, bool end_of_episode) const;
  bool IsDue(const State& state, bool end_of_episode) const;
  // False if a value is absent.
  bool SelectRows(State* state) const;
  double PriorityOf(const State& state) const;

  std::vector<State> states_;
  int32_t history_ = 1;
  std::vector<Column> columns_;  // that are used, in order of their numbers
  int32_t num_values_ = -1;      // of a step; -1: there was none yet

  // The newest steps, at most history_, oldest first: columns_.size() cells each.
  std::deque<Cell> cells_;
  int64_t num_kept_ = 0;          // steps in cells_
  int64_t num_steps_ = 0;         // ever
  int64_t steps_in_episode_ = 0;  // the open one included
  bool step_is_open_ = false;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_STRUCTURED_WRITER_MATCHER_H_

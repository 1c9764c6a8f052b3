#include "cc/client/structured_writer_matcher.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "cc/client/log.h"

namespace reverb_tf::client {
namespace {

template <typename T>
T ReadOne(const TensorView& value) {
  T one;
  std::memcpy(&one, value.data, sizeof(T));
  return one;
}

// The value if it is one integer or bool.
std::optional<__int128> ReadInteger(const TensorView& value) {
  if (value.num_elements() != 1) return std::nullopt;
  switch (value.dtype) {
    case DType::kBool:
    case DType::kUint8:
      return ReadOne<uint8_t>(value);
    case DType::kInt8:
      return ReadOne<int8_t>(value);
    case DType::kInt16:
      return ReadOne<int16_t>(value);
    case DType::kUint16:
      return ReadOne<uint16_t>(value);
    case DType::kInt32:
      return ReadOne<int32_t>(value);
    case DType::kUint32:
      return ReadOne<uint32_t>(value);
    case DType::kInt64:
      return ReadOne<int64_t>(value);
    case DType::kUint64:
      return ReadOne<uint64_t>(value);
    default:
      return std::nullopt;
  }
}

// The value if it is one number that priorities can be computed of.
std::optional<double> ReadNumber(const TensorView& value) {
  if (value.num_elements() != 1) return std::nullopt;
  switch (value.dtype) {
    case DType::kFloat64:
      return ReadOne<double>(value);
    case DType::kFloat32:
      return ReadOne<float>(value);
    case DType::kInt32:
      return ReadOne<int32_t>(value);
    case DType::kInt64:
      return static_cast<double>(ReadOne<int64_t>(value));
    default:
      return std::nullopt;
  }
}

std::string Describe(const TensorView& value) {
  return std::string("dtype ") + DTypeName(value.dtype) + " and shape " +
         ShapeString(value.dims, value.rank);
}

Status PriorityError(int32_t column, const std::string& what) {
  return InvalidArgumentError("No priority can be computed of the value provided for column " +
                              std::to_string(column) + ". It must be " + what + ".");
}

void AddRow(int32_t column, int64_t row, std::vector<RowRange>* ranges) {
  if (!ranges->empty() && ranges->back().first + ranges->back().length == row) {
    ++ranges->back().length;
  } else {
    ranges->push_back({column, row, 1});
  }
}

}  // namespace

PatternMatcher::PatternMatcher(std::vector<PatternConfig> configs) {
  FindColumns(configs);
  for (PatternConfig& config : configs) {
    history_ = std::max(history_, config.history);
    states_.push_back(MakeState(std::move(config)));
  }
}

void PatternMatcher::FindColumns(const std::vector<PatternConfig>& configs) {
  std::map<int32_t, Column> used;
  for (const PatternConfig& config : configs) {
    for (const PatternNode& node : config.nodes) used[node.column];
    for (const PatternCondition& condition : config.conditions) {
      if (condition.left != PatternCondition::Left::kColumn) continue;
      used[condition.column].in_condition = true;
    }
    if (config.priority.td_node < 0) continue;
    used[config.nodes[config.priority.td_node].column].in_priority = true;
  }
  for (auto& [number, column] : used) {
    column.number = number;
    columns_.push_back(std::move(column));
  }
}

int32_t PatternMatcher::ColumnIndex(int32_t number) const {
  const auto found =
      std::lower_bound(columns_.begin(), columns_.end(), number,
                       [](const Column& column, int32_t n) { return column.number < n; });
  if (found == columns_.end() || found->number != number) return -1;
  return static_cast<int32_t>(found - columns_.begin());
}

PatternMatcher::State PatternMatcher::MakeState(PatternConfig config) const {
  State state;
  for (const PatternNode& node : config.nodes) {
    state.node_columns.push_back(ColumnIndex(node.column));
    ItemColumn column;
    column.squeeze = node.squeeze;
    state.columns.push_back(std::move(column));
  }
  for (const PatternCondition& condition : config.conditions) {
    state.condition_columns.push_back(ColumnIndex(condition.column));
  }
  state.config = std::move(config);
  return state;
}

bool PatternMatcher::uses_column(int32_t column) const { return ColumnIndex(column) >= 0; }

const PatternMatcher::Cell& PatternMatcher::cell(int32_t column_index, int32_t age) const {
  return cells_[(num_kept_ - age) * static_cast<int64_t>(columns_.size()) + column_index];
}

Status PatternMatcher::Check(const TensorView* values, int32_t n) const {
  if (num_values_ >= 0 && n != num_values_) {
    return InvalidArgumentError("Flattened data has an unexpected length, got " +
                                std::to_string(n) + " but wanted " + std::to_string(num_values_) +
                                ".");
  }
  if (columns_.back().number >= n) {
    return InvalidArgumentError("The configs use column " + std::to_string(columns_.back().number) +
                                ", but the flattened data has " + std::to_string(n) + " columns.");
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const TensorView& value = values[column.number];
    if (value.dtype == DType::kInvalid) continue;
    if (step_is_open_ && cell(static_cast<int32_t>(i), 1).row >= 0) {
      return FailedPreconditionError("A value was provided for column " +
                                     std::to_string(column.number) +
                                     ". It has already been set in the step that is open.");
    }
    if (!column.in_priority) continue;
    const std::optional<double> number = ReadNumber(value);
    if (!number) {
      return PriorityError(
          column.number,
          "one number of dtype double, float, int32 or int64, but has " + Describe(value));
    }
    if (!std::isfinite(*number)) return PriorityError(column.number, "finite");
  }
  return OkStatus();
}

void PatternMatcher::Add(const TensorView* values, int32_t n, const StepRef* refs, bool partial) {
  num_values_ = n;
  if (!step_is_open_) {
    ++num_steps_;
    ++steps_in_episode_;
    if (num_kept_ == history_) {
      cells_.erase(cells_.begin(), cells_.begin() + static_cast<int64_t>(columns_.size()));
    } else {
      ++num_kept_;
    }
    cells_.insert(cells_.end(), columns_.size(), Cell());
    for (Column& column : columns_) column.newest.reset();
  }
  const auto newest = cells_.end() - static_cast<int64_t>(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    const int32_t number = columns_[i].number;
    if (values[number].dtype == DType::kInvalid) continue;
    SetCell(&columns_[i], &newest[static_cast<int64_t>(i)], values[number], refs[number].row);
  }
  step_is_open_ = partial;
}

void PatternMatcher::SetCell(Column* column, Cell* cell, const TensorView& value, int64_t row) {
  cell->row = row;
  if (column->in_priority) cell->number = ReadNumber(value).value_or(0);
  if (!column->in_condition) return;
  column->newest = ReadInteger(value);
  if (column->newest || column->warned) return;
  column->warned = true;
  LogWarning("A condition of a structured writer never holds: it compares column " +
             std::to_string(column->number) + ", which is not one integer or bool but has " +
             Describe(value) + ".");
}

bool PatternMatcher::NewestIsEmpty() const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (cell(static_cast<int32_t>(i), 1).row >= 0) return false;
  }
  return true;
}

std::optional<PatternMatcher::Integer> PatternMatcher::LeftOf(const State& state, size_t condition,
                                                              bool end_of_episode) const {
  using Left = PatternCondition::Left;
  switch (state.config.conditions[condition].left) {
    case Left::kStepIndex:
      return steps_in_episode_ - 1;
    case Left::kStepsSinceApplied:
      return state.steps_since_applied;
    case Left::kBufferLength:
      return num_kept_;
    case Left::kIsEndEpisode:
      return end_of_episode ? 1 : 0;
    case Left::kColumn:
      return columns_[state.condition_columns[condition]].newest;
  }
  return std::nullopt;
}

bool PatternMatcher::Holds(const State& state, size_t index, bool end_of_episode) const {
  using Comparison = PatternCondition::Comparison;
  const PatternCondition& condition = state.config.conditions[index];
  const std::optional<Integer> left = LeftOf(state, index, end_of_episode);
  if (!left) return false;
  bool holds = false;
  switch (condition.comparison) {
    case Comparison::kEqual:
      holds = *left == condition.operand;
      break;
    case Comparison::kGreaterOrEqual:
      holds = *left >= condition.operand;
      break;
    case Comparison::kModulo:  // never negative, as in Python
      holds =
          (*left % condition.modulus + condition.modulus) % condition.modulus == condition.operand;
      break;
  }
  return holds != condition.inverse;
}

bool PatternMatcher::IsDue(const State& state, bool end_of_episode) const {
  if (num_kept_ < state.config.history) return false;
  for (size_t i = 0; i < state.config.conditions.size(); ++i) {
    if (!Holds(state, i, end_of_episode)) return false;
  }
  return true;
}

bool PatternMatcher::SelectRows(State* state) const {
  for (size_t i = 0; i < state->config.nodes.size(); ++i) {
    const PatternNode& node = state->config.nodes[i];
    std::vector<RowRange>& ranges = state->columns[i].ranges;
    ranges.clear();
    for (int64_t age = node.first_age; age > node.end_age; age -= node.stride) {
      const int64_t row = cell(state->node_columns[i], static_cast<int32_t>(age)).row;
      if (row < 0) return false;
      AddRow(node.column, row, &ranges);
    }
  }
  return true;
}

double PatternMatcher::PriorityOf(const State& state) const {
  const PatternPriority& priority = state.config.priority;
  if (priority.td_node < 0) return priority.constant;
  const PatternNode& node = state.config.nodes[priority.td_node];
  const int32_t column = state.node_columns[priority.td_node];
  double max = 0;
  double sum = 0;
  int64_t count = 0;
  for (int64_t age = node.first_age; age > node.end_age; age -= node.stride) {
    const double value = std::abs(cell(column, static_cast<int32_t>(age)).number);
    max = std::max(max, value);
    sum += value;
    ++count;
  }
  const double mean = sum / static_cast<double>(count);
  return priority.max_weight * max + (1 - priority.max_weight) * mean;
}

void PatternMatcher::FindMatches(bool end_of_episode, std::vector<PatternMatch>* matches) {
  matches->clear();
  if (steps_in_episode_ == 0 || NewestIsEmpty()) return;
  for (State& state : states_) {
    if (state.applied_step == num_steps_) continue;
    if (state.counted_step != num_steps_) {
      state.counted_step = num_steps_;
      ++state.steps_since_applied;
    }
    if (!IsDue(state, end_of_episode) || !SelectRows(&state)) continue;
    state.applied_step = num_steps_;
    state.steps_since_applied = 0;
    matches->push_back({&state.config.table, PriorityOf(state), &state.columns});
  }
}

void PatternMatcher::EndEpisode(bool clear_buffers) {
  step_is_open_ = false;
  steps_in_episode_ = 0;
  if (!clear_buffers) return;
  cells_.clear();
  num_kept_ = 0;
}

}  // namespace reverb_tf::client

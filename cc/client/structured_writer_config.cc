#include "cc/client/structured_writer_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "proto/patterns.pb.h"

namespace reverb_tf::client {
namespace {

using deepmind::reverb::StructuredWriterConfig;
using ConditionProto = deepmind::reverb::Condition;
using NodeProto = deepmind::reverb::PatternNode;
using PriorityProto = deepmind::reverb::Priority;

// Ages are positive ints of 32 bits.
constexpr int32_t kOldest = -std::numeric_limits<int32_t>::max();

Status Refuse(const std::string& what, int64_t got) {
  return InvalidArgumentError(what + ", but is " + std::to_string(got) + ".");
}

Result<PatternNode> ParseNode(const NodeProto& proto) {
  const bool has_start = proto.start_or_none_case() == NodeProto::kStart;
  const bool has_stop = proto.stop_or_none_case() == NodeProto::kStop;
  const bool has_step = proto.step_or_none_case() == NodeProto::kStep;
  if (proto.flat_source_index() < 0) {
    return Refuse("flat_source_index must not be negative", proto.flat_source_index());
  }
  if (!has_start && !has_stop) {
    return InvalidArgumentError("start or stop must be set.");
  }
  if (has_start && (proto.start() >= 0 || proto.start() < kOldest)) {
    return Refuse("start must be negative (steps are counted from the newest)", proto.start());
  }
  if (has_stop && (proto.stop() > 0 || proto.stop() < kOldest)) {
    return Refuse("stop must not be positive (steps are counted from the newest)", proto.stop());
  }
  if (!has_start && proto.stop() == 0) {
    return Refuse("stop must be negative when start is not set", 0);
  }
  if (has_start && has_stop && proto.start() >= proto.stop()) {
    return InvalidArgumentError("start must be less than stop, but they are " +
                                std::to_string(proto.start()) + " and " +
                                std::to_string(proto.stop()) + ".");
  }
  if (has_step && !has_start) {
    return InvalidArgumentError("step must not be set when start is not set.");
  }
  if (has_step && proto.step() <= 0) return Refuse("step must be positive", proto.step());
  PatternNode node;
  node.column = proto.flat_source_index();
  node.squeeze = !has_start;
  node.first_age = has_start ? -proto.start() : -proto.stop();
  node.end_age = has_start ? -proto.stop() : node.first_age - 1;
  node.stride = has_step ? proto.step() : 1;
  return node;
}

Status ParseLeft(const ConditionProto& proto, PatternCondition* condition) {
  using Left = PatternCondition::Left;
  switch (proto.left_case()) {
    case ConditionProto::kStepIndex:
      condition->left = Left::kStepIndex;
      return OkStatus();
    case ConditionProto::kStepsSinceApplied:
      condition->left = Left::kStepsSinceApplied;
      return OkStatus();
    case ConditionProto::kBufferLength:
      condition->left = Left::kBufferLength;
      return OkStatus();
    case ConditionProto::kIsEndEpisode:
      condition->left = Left::kIsEndEpisode;
      if (proto.cmp_case() == ConditionProto::kEq && proto.eq() == 1 && !proto.inverse()) {
        return OkStatus();
      }
      return InvalidArgumentError("is_end_episode can only be compared with eq = 1, not inverted.");
    case ConditionProto::kFlatSourceIndex:
      condition->left = Left::kColumn;
      condition->column = proto.flat_source_index();
      if (condition->column >= 0) return OkStatus();
      return Refuse("flat_source_index must not be negative", condition->column);
    case ConditionProto::LEFT_NOT_SET:
      break;
  }
  return InvalidArgumentError("left must be set.");
}

Status ParseComparison(const ConditionProto& proto, PatternCondition* condition) {
  using Comparison = PatternCondition::Comparison;
  switch (proto.cmp_case()) {
    case ConditionProto::kEq:
      condition->comparison = Comparison::kEqual;
      condition->operand = proto.eq();
      return OkStatus();
    case ConditionProto::kGe:
      condition->comparison = Comparison::kGreaterOrEqual;
      condition->operand = proto.ge();
      return OkStatus();
    case ConditionProto::kModEq:
      condition->comparison = Comparison::kModulo;
      condition->modulus = proto.mod_eq().mod();
      condition->operand = proto.mod_eq().eq();
      if (condition->modulus <= 0) return Refuse("mod_eq.mod must be positive", condition->modulus);
      if (condition->operand >= 0) return OkStatus();
      return Refuse("mod_eq.eq must not be negative", condition->operand);
    case ConditionProto::CMP_NOT_SET:
      break;
  }
  return InvalidArgumentError("cmp must be set.");
}

Result<PatternCondition> ParseCondition(const ConditionProto& proto) {
  PatternCondition condition;
  condition.inverse = proto.inverse();
  REVERB_TF_RETURN_IF_ERROR(ParseLeft(proto, &condition));
  REVERB_TF_RETURN_IF_ERROR(ParseComparison(proto, &condition));
  return condition;
}

Result<PatternPriority> ParsePriority(const PriorityProto& proto,
                                      const std::vector<PatternNode>& nodes) {
  PatternPriority priority;
  switch (proto.priority_fn_case()) {
    case PriorityProto::kConstantFn:
      priority.constant = proto.constant_fn().value();
      if (!std::isnan(priority.constant)) return priority;
      return InvalidArgumentError("constant_fn.value must not be NaN.");
    case PriorityProto::kTdError:
      if (proto.td_error().flat_source_index() < 0) {
        return Refuse("td_error.flat_source_index must not be negative",
                      proto.td_error().flat_source_index());
      }
      priority.max_weight = proto.td_error().max_priority_weight();
      if (!std::isfinite(priority.max_weight)) {
        return InvalidArgumentError("td_error.max_priority_weight must be finite.");
      }
      for (size_t i = 0; i < nodes.size(); ++i) {  // the last one counts
        if (nodes[i].column == proto.td_error().flat_source_index()) {
          priority.td_node = static_cast<int32_t>(i);
        }
      }
      return priority;
    case PriorityProto::PRIORITY_FN_NOT_SET:
      break;
  }
  return InvalidArgumentError("it is not set.");
}

Result<PatternConfig> ParseConfig(const std::string& serialized) {
  StructuredWriterConfig proto;
  if (!proto.ParseFromString(serialized)) {
    return InvalidArgumentError("it is no serialized StructuredWriterConfig.");
  }
  if (proto.flat().empty()) return InvalidArgumentError("flat must have at least one node.");
  if (proto.table().empty()) return InvalidArgumentError("table must be set.");
  PatternConfig config;
  config.table = proto.table();
  for (int i = 0; i < proto.flat_size(); ++i) {
    Result<PatternNode> node = ParseNode(proto.flat(i));
    if (!node.ok()) return node.status().WithContext("node " + std::to_string(i));
    config.history = std::max(config.history, node->first_age);
    config.nodes.push_back(*node);
  }
  for (int i = 0; i < proto.conditions_size(); ++i) {
    Result<PatternCondition> condition = ParseCondition(proto.conditions(i));
    if (!condition.ok()) return condition.status().WithContext("condition " + std::to_string(i));
    config.conditions.push_back(*condition);
  }
  Result<PatternPriority> priority = ParsePriority(proto.priority(), config.nodes);
  if (!priority.ok()) return priority.status().WithContext("priority");
  config.priority = *priority;
  return config;
}

}  // namespace

Result<std::vector<PatternConfig>> ParsePatternConfigs(const std::vector<std::string>& serialized) {
  if (serialized.empty()) return InvalidArgumentError("At least one config must be provided.");
  std::vector<PatternConfig> configs;
  configs.reserve(serialized.size());
  for (size_t i = 0; i < serialized.size(); ++i) {
    Result<PatternConfig> config = ParseConfig(serialized[i]);
    if (!config.ok()) {
      return config.status().WithContext("Invalid configuration at position " + std::to_string(i));
    }
    configs.push_back(std::move(config).value());
  }
  return configs;
}

}  // namespace reverb_tf::client

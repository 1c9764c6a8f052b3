// What the configs of a structured writer say, checked.
#ifndef REVERB_TF_CLIENT_STRUCTURED_WRITER_CONFIG_H_
#define REVERB_TF_CLIENT_STRUCTURED_WRITER_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reverb_tf/status.h"

namespace reverb_tf::client {

// One column of an item. Steps are numbered by their age: the newest is 1. The steps are
// first_age, first_age - stride, ... down to, and without, end_age.
struct PatternNode {
  int32_t column = 0;
  int32_t first_age = 1;
  int32_t end_age = 0;
  int32_t stride = 1;
  bool squeeze = false;  // one step, without the leading axis
};

// left == operand, left >= operand or left mod modulus == operand; or the contrary.
struct PatternCondition {
  enum class Left { kStepIndex, kStepsSinceApplied, kBufferLength, kIsEndEpisode, kColumn };
  enum class Comparison { kEqual, kGreaterOrEqual, kModulo };

  Left left = Left::kStepIndex;
  int32_t column = 0;  // of kColumn
  Comparison comparison = Comparison::kEqual;
  int32_t operand = 0;
  int32_t modulus = 1;  // of kModulo
  bool inverse = false;
};

// A constant; or max_weight * max + (1 - max_weight) * mean of the absolute values that node
// `td_node` selects.
struct PatternPriority {
  double constant = 0;
  int32_t td_node = -1;  // -1: constant
  double max_weight = 0;
};

struct PatternConfig {
  std::string table;
  std::vector<PatternNode> nodes;
  std::vector<PatternCondition> conditions;  // all must hold
  PatternPriority priority;
  int32_t history = 1;  // how many of the newest steps it needs
};

// `serialized` are deepmind.reverb.StructuredWriterConfig messages. INVALID_ARGUMENT: there is
// none, or "Invalid configuration at position i: ...".
Result<std::vector<PatternConfig>> ParsePatternConfigs(const std::vector<std::string>& serialized);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_STRUCTURED_WRITER_CONFIG_H_

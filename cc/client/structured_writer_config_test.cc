// What configs say, and which are refused.
#include "cc/client/structured_writer_config.h"

#include <string>
#include <vector>

#include "cc/client/testing/structured_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using testing::HasSubstr;

TEST(StructuredWriterConfigTest, NodesAreAges) {
  const std::vector<PatternConfig> configs =
      ParsedConfigs({ConstantConfig(Node(3, 0, -2) + Node(1, -5) + Node(1, -7, -1, 3))});
  ASSERT_EQ(configs.size(), 1u);
  EXPECT_EQ(configs[0].table, "t");
  EXPECT_EQ(configs[0].history, 7);
  const std::vector<PatternNode>& nodes = configs[0].nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].column, 3);
  EXPECT_TRUE(nodes[0].squeeze);
  EXPECT_EQ(nodes[0].first_age, 2);
  EXPECT_EQ(nodes[0].end_age, 1);
  EXPECT_FALSE(nodes[1].squeeze);
  EXPECT_EQ(nodes[1].first_age, 5);
  EXPECT_EQ(nodes[1].end_age, 0);
  EXPECT_EQ(nodes[1].stride, 1);
  EXPECT_EQ(nodes[2].first_age, 7);
  EXPECT_EQ(nodes[2].end_age, 1);
  EXPECT_EQ(nodes[2].stride, 3);
}

TEST(StructuredWriterConfigTest, AStopOfZeroIsTheEnd) {
  const auto configs =
      ParsedConfigs({ConstantConfig("flat { flat_source_index: 0 start: -2 stop: 0 }")});
  EXPECT_EQ(configs[0].nodes[0].end_age, 0);
}

TEST(StructuredWriterConfigTest, TheLastNodeOfAColumnGivesTheTdError) {
  const std::string priority =
      " table: 't' priority { td_error { max_priority_weight: 0.5 flat_source_index: 1 } }";
  auto configs =
      ParsedConfigs({SerializedConfig(Node(1, -2) + Node(1, -1) + Node(0, -1) + priority),
                     SerializedConfig(Node(0, -1) + priority)});
  EXPECT_EQ(configs[0].priority.td_node, 1);
  EXPECT_EQ(configs[0].priority.max_weight, 0.5);
  EXPECT_EQ(configs[1].priority.td_node, -1);
  EXPECT_EQ(configs[1].priority.constant, 0.0);
}

struct BadConfig {
  std::string text;
  std::string error;
};

constexpr char kRest[] = "table: 't' priority { constant_fn { value: 1 } }";

class BadConfigTest : public testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigTest, IsRefusedWithItsPosition) {
  const Status status =
      ParsePatternConfigs({ConstantConfig(Node(0, -1)), SerializedConfig(GetParam().text)})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::StartsWith("Invalid configuration at position 1: "));
  EXPECT_THAT(status.message(), HasSubstr(GetParam().error));
}

std::string WithCondition(const std::string& condition) {
  return Node(0, -1) + kRest + " conditions { " + condition + " }";
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, BadConfigTest,
    testing::Values(
        BadConfig{kRest, "flat must have at least one node"},
        BadConfig{Node(0, -1) + "priority { constant_fn { value: 1 } }", "table must be set"},
        BadConfig{Node(-1, -1) + kRest,
                  "node 0: flat_source_index must not be negative, but is -1"},
        BadConfig{Node(0, -1) + Node(0, 0) + kRest, "node 1: start or stop must be set"},
        BadConfig{Node(0, 1) + kRest, "start must be negative"},
        BadConfig{std::string("flat { start: 0 }") + kRest, "start must be negative"},
        BadConfig{std::string("flat { start: -2147483648 }") + kRest, "start must be negative"},
        BadConfig{Node(0, -1, 1) + kRest, "stop must not be positive"},
        BadConfig{std::string("flat { stop: 0 }") + kRest, "stop must be negative when start is"},
        BadConfig{Node(0, -2, -2) + kRest, "start must be less than stop, but they are -2 and -2"},
        BadConfig{Node(0, 0, -2, 1) + kRest, "step must not be set when start is not set"},
        BadConfig{Node(0, -2, 0, -1) + kRest, "step must be positive, but is -1"},
        BadConfig{std::string("flat { start: -1 step: 0 }") + kRest, "step must be positive"}));

INSTANTIATE_TEST_SUITE_P(
    Conditions, BadConfigTest,
    testing::Values(
        BadConfig{WithCondition("eq: 1"), "condition 0: left must be set"},
        BadConfig{WithCondition("step_index: true"), "cmp must be set"},
        BadConfig{WithCondition("flat_source_index: -2 eq: 1"), "must not be negative, but is -2"},
        BadConfig{WithCondition("step_index: true mod_eq { mod: 0 eq: 0 }"), "must be positive"},
        BadConfig{WithCondition("step_index: true mod_eq { mod: 2 eq: -1 }"),
                  "mod_eq.eq must not be negative, but is -1"},
        BadConfig{WithCondition("is_end_episode: true eq: 0"), "is_end_episode"},
        BadConfig{WithCondition("is_end_episode: true ge: 1"), "is_end_episode"},
        BadConfig{WithCondition("is_end_episode: true eq: 1 inverse: true"), "is_end_episode"}));

INSTANTIATE_TEST_SUITE_P(
    Priorities, BadConfigTest,
    testing::Values(
        BadConfig{Node(0, -1) + "table: 't'", "priority: it is not set"},
        BadConfig{Node(0, -1) + "table: 't' priority { constant_fn { value: nan } }", "NaN"},
        BadConfig{Node(0, -1) + "table: 't' priority { td_error { flat_source_index: -1 } }",
                  "td_error.flat_source_index must not be negative, but is -1"},
        BadConfig{Node(0, -1) + "table: 't' priority { td_error { max_priority_weight: inf } }",
                  "must be finite"}));

TEST(StructuredWriterConfigTest, NoConfigsAndNoMessagesAreRefused) {
  EXPECT_EQ(ParsePatternConfigs({}).status().message(), "At least one config must be provided.");
  EXPECT_EQ(ParsePatternConfigs({"\xff"}).status().message(),
            "Invalid configuration at position 0: it is no serialized StructuredWriterConfig.");
}

}  // namespace
}  // namespace reverb_tf::client

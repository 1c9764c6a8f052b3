// Which rows are chosen after each step.
#include "cc/client/structured_writer_matcher.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/log.h"
#include "cc/client/testing/structured_config.h"
#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Values = std::vector<std::optional<int64_t>>;
using Rows = std::vector<std::vector<int64_t>>;

class PatternMatcherTest : public testing::Test {
 protected:
  void Start(const std::vector<std::string>& configs) {
    matcher_ = std::make_unique<PatternMatcher>(ParsedConfigs(configs));
    rows_.assign(16, 0);
    step_ = -1;
  }

  // Adds int64 scalars; rows of a column are counted from 0. The rows that each match chooses.
  std::vector<Rows> Add(const Values& values, bool partial = false) {
    std::vector<std::unique_ptr<TestArray<int64_t>>> arrays;
    std::vector<TensorView> views;
    for (const auto& value : values) {
      arrays.push_back(Scalar(value.value_or(0)));
      views.push_back(value ? arrays.back()->view() : TensorView());
    }
    const Status status = AddViews(views, partial);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return Matches(false);
  }

  Status AddViews(const std::vector<TensorView>& views, bool partial = false) {
    const auto n = static_cast<int32_t>(views.size());
    REVERB_TF_RETURN_IF_ERROR(matcher_->Check(views.data(), n));
    if (!matcher_->step_is_open()) ++step_;
    std::vector<StepRef> refs(views.size());
    for (int32_t i = 0; i < n; ++i) {
      if (views[i].dtype != DType::kInvalid) refs[i] = {i, rows_[i]++};
    }
    matcher_->Add(views.data(), n, refs.data(), partial);
    return OkStatus();
  }

  std::vector<Rows> Matches(bool end_of_episode) {
    std::vector<PatternMatch> matches;
    matcher_->FindMatches(end_of_episode, &matches);
    std::vector<Rows> chosen;
    priorities_.clear();
    for (const PatternMatch& match : matches) {
      Rows rows;
      for (const ItemColumn& column : *match.columns) {
        rows.emplace_back();
        for (const RowRange& range : column.ranges) {
          for (int64_t i = 0; i < range.length; ++i) rows.back().push_back(range.first + i);
        }
      }
      chosen.push_back(rows);
      priorities_.push_back(match.priority);
    }
    return chosen;
  }

  // The steps of an episode of n after which the condition holds; column 0 holds `values[step]`, or
  // the step.
  std::vector<int64_t> StepsWhere(const std::string& condition, int n, const Values& values = {}) {
    Start({ConstantConfig(Node(1, 0, -1), "conditions { " + condition + " }")});
    std::vector<int64_t> steps;
    for (int i = 0; i < n; ++i) {
      if (!Add({values.empty() ? i : values[i], i}).empty()) steps.push_back(i);
    }
    return steps;
  }

  std::unique_ptr<PatternMatcher> matcher_;
  std::vector<int64_t> rows_;  // that each column has
  int64_t step_ = -1;
  std::vector<double> priorities_;  // of the last matches
};

TEST_F(PatternMatcherTest, PatternsWaitForTheirHistory) {
  Start({ConstantConfig(Node(0, -3) + Node(0, 0, -2))});
  EXPECT_EQ(matcher_->history(), 3);
  EXPECT_THAT(Add({0}), IsEmpty());
  EXPECT_THAT(Add({1}), IsEmpty());
  EXPECT_THAT(Add({2}), ElementsAre(Rows{{0, 1, 2}, {1}}));
  EXPECT_THAT(Add({3}), ElementsAre(Rows{{1, 2, 3}, {2}}));
}

TEST_F(PatternMatcherTest, StridesChooseWhatASliceWould) {
  Start({ConstantConfig(Node(0, -5, 0, 2) + Node(0, -6, -1, 3) + Node(0, -4, -2))});
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Add({i}), IsEmpty());
  EXPECT_THAT(Add({5}), ElementsAre(Rows{{1, 3, 5}, {0, 3}, {2, 3}}));
  for (int i = 6; i < 40; ++i) {
    EXPECT_THAT(Add({i}), ElementsAre(Rows{{i - 4, i - 2, i}, {i - 5, i - 2}, {i - 3, i - 2}}));
  }
}

TEST_F(PatternMatcherTest, ConditionsCompare) {
  EXPECT_THAT(StepsWhere("step_index: true eq: 2", 6), ElementsAre(2));
  EXPECT_THAT(StepsWhere("step_index: true ge: 4", 6), ElementsAre(4, 5));
  EXPECT_THAT(StepsWhere("step_index: true ge: 2 inverse: true", 6), ElementsAre(0, 1));
  EXPECT_THAT(StepsWhere("step_index: true mod_eq { mod: 3 eq: 1 }", 8), ElementsAre(1, 4, 7));
  EXPECT_THAT(StepsWhere("step_index: true mod_eq { mod: 3 eq: 1 } inverse: true", 5),
              ElementsAre(0, 2, 3));
  EXPECT_THAT(StepsWhere("steps_since_applied: true ge: 3", 8), ElementsAre(2, 5));
  EXPECT_THAT(StepsWhere("steps_since_applied: true eq: 1", 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(StepsWhere("is_end_episode: true eq: 1", 3), IsEmpty());
}

TEST_F(PatternMatcherTest, DataConditionsAreNeitherCutNorNegative) {
  EXPECT_THAT(StepsWhere("flat_source_index: 0 eq: 3", 3, {3, 2, 3}), ElementsAre(0, 2));
  EXPECT_THAT(StepsWhere("flat_source_index: 0 ge: 1", 3, {int64_t{1} << 31, 0, int64_t{1} << 62}),
              ElementsAre(0, 2));
  EXPECT_THAT(StepsWhere("flat_source_index: 0 eq: 0", 2, {int64_t{1} << 32, 0}), ElementsAre(1));
  EXPECT_THAT(StepsWhere("flat_source_index: 0 mod_eq { mod: 3 eq: 2 }", 4, {-1, -2, 2, -4}),
              ElementsAre(0, 2, 3));
}

TEST_F(PatternMatcherTest, AMissingValueMeetsNoCondition) {
  EXPECT_THAT(StepsWhere("flat_source_index: 0 ge: 1", 2, {std::nullopt, 1}), ElementsAre(1));
  EXPECT_THAT(StepsWhere("flat_source_index: 0 eq: 1 inverse: true", 3, {0, std::nullopt, 1}),
              ElementsAre(0));
}

TEST_F(PatternMatcherTest, AllIntegersAreCompared) {
  Start({ConstantConfig(Node(0, 0, -1), "conditions { flat_source_index: 0 ge: 1 }")});
  const TestArray<uint64_t> large(DType::kUint64, {1, 1}, {~uint64_t{0}});
  const TestArray<int8_t> small(DType::kInt8, {}, {-1});
  const TestArray<char> truth(DType::kBool, {}, {1});
  for (const auto& [view, matches] :
       {std::pair(large.view(), 1), std::pair(small.view(), 0), std::pair(truth.view(), 1)}) {
    ASSERT_TRUE(AddViews({view}).ok());
    EXPECT_EQ(Matches(false).size(), matches);
  }
}

TEST_F(PatternMatcherTest, AConditionOnSomethingElseNeverHoldsAndSaysSo) {
  std::vector<std::string> lines;
  SetLogSink([&](const std::string& line) { lines.push_back(line); });
  Start(
      {ConstantConfig(Node(1, 0, -1), "conditions { flat_source_index: 0 ge: 1 inverse: true }")});
  const TestArray<float> number(DType::kFloat32, {}, {0});
  const auto one = Scalar(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(AddViews({number.view(), one->view()}).ok());
    EXPECT_THAT(Matches(false), IsEmpty());
  }
  SetLogSink(nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("column 0"));
  EXPECT_THAT(lines[0], HasSubstr("dtype float and shape []"));
}

TEST_F(PatternMatcherTest, AConfigIsAppliedOnceAStep) {
  Start({ConstantConfig(Node(0, 0, -1)), ConstantConfig(Node(1, -2))});
  EXPECT_THAT(Add({0, std::nullopt}, true), ElementsAre(Rows{{0}}));
  EXPECT_TRUE(matcher_->step_is_open());
  EXPECT_THAT(Add({std::nullopt, 0}), IsEmpty());
  EXPECT_FALSE(matcher_->step_is_open());
  EXPECT_THAT(Add({1, std::nullopt}, true), ElementsAre(Rows{{1}}));
  EXPECT_THAT(Add({std::nullopt, std::nullopt}, true), IsEmpty());
  EXPECT_THAT(Add({std::nullopt, 1}), ElementsAre(Rows{{0, 1}}));
  EXPECT_THAT(Matches(true), IsEmpty());
}

TEST_F(PatternMatcherTest, MissingValuesLeaveTheConfigOut) {
  Start({ConstantConfig(Node(0, -2)), ConstantConfig(Node(1, 0, -1))});
  EXPECT_THAT(Add({0, 0}), ElementsAre(Rows{{0}}));
  EXPECT_THAT(Add({std::nullopt, 1}), ElementsAre(Rows{{1}}));
  EXPECT_THAT(Add({1, 2}), ElementsAre(Rows{{2}}));
  EXPECT_THAT(Add({2, std::nullopt}), ElementsAre(Rows{{1, 2}}));
}

TEST_F(PatternMatcherTest, StepsWithoutValuesAreNotEvaluated) {
  Start({ConstantConfig(Node(0, 0, -2), "conditions { steps_since_applied: true ge: 3 }")});
  EXPECT_THAT(Add({0, 0}), IsEmpty());
  EXPECT_THAT(Add({std::nullopt, 1}), IsEmpty());
  EXPECT_THAT(Add({1, 2}), IsEmpty());
  EXPECT_THAT(Add({2, 3}), ElementsAre(Rows{{1}}));
}

TEST_F(PatternMatcherTest, BufferLengthIsBoundedByTheLongestHistory) {
  Start({ConstantConfig(Node(0, 0, -1), "conditions { buffer_length: true eq: 2 }"),
         ConstantConfig(Node(0, 0, -2))});
  EXPECT_EQ(Add({0}).size(), 0u);
  EXPECT_EQ(Add({1}).size(), 2u);
  EXPECT_EQ(Add({2}).size(), 2u);
}

TEST_F(PatternMatcherTest, EndsOfEpisodes) {
  Start({ConstantConfig(Node(0, -2), "conditions { is_end_episode: true eq: 1 }"),
         ConstantConfig(Node(0, 0, -1), "conditions { step_index: true eq: 0 }")});
  EXPECT_THAT(Matches(true), IsEmpty());
  EXPECT_THAT(Add({0}), ElementsAre(Rows{{0}}));
  EXPECT_THAT(Add({1}), IsEmpty());
  EXPECT_THAT(Matches(true), ElementsAre(Rows{{0, 1}}));
  EXPECT_THAT(Matches(true), IsEmpty()) << "asked again, as after a timeout";
  matcher_->EndEpisode(true);
  EXPECT_THAT(Matches(true), IsEmpty());
  EXPECT_THAT(Add({2}), ElementsAre(Rows{{2}}));
  EXPECT_THAT(Matches(true), IsEmpty());
  matcher_->EndEpisode(false);
  EXPECT_THAT(Matches(true), IsEmpty()) << "the episode has no steps";
  EXPECT_THAT(Add({3}), ElementsAre(Rows{{3}}));
  EXPECT_THAT(Matches(true), ElementsAre(Rows{{2, 3}})) << "over both episodes";
}

TEST_F(PatternMatcherTest, AnEpisodeEndsAnOpenStep) {
  Start({ConstantConfig(Node(0, 0, -1), "conditions { is_end_episode: true eq: 1 }")});
  EXPECT_THAT(Add({0}, true), IsEmpty());
  EXPECT_THAT(Matches(true), ElementsAre(Rows{{0}}));
  matcher_->EndEpisode(true);
  EXPECT_FALSE(matcher_->step_is_open());
  EXPECT_THAT(Add({1}), IsEmpty());
}

TEST_F(PatternMatcherTest, StepsSinceAppliedGoOnOverEpisodes) {
  Start({ConstantConfig(Node(0, 0, -1), "conditions { steps_since_applied: true ge: 3 }")});
  EXPECT_THAT(Add({0}), IsEmpty());
  EXPECT_THAT(Add({1}), IsEmpty());
  EXPECT_THAT(Matches(true), IsEmpty());
  matcher_->EndEpisode(true);
  EXPECT_THAT(Add({2}), ElementsAre(Rows{{2}}));
}

std::string TdConfig(const std::string& flat) {
  return SerializedConfig(
      flat + "table: 't' priority { td_error { max_priority_weight: 0.6 flat_source_index: 0 } }");
}

TEST_F(PatternMatcherTest, TdErrorIsOfTheRowsThatTheLastNodeSelects) {
  Start({TdConfig(Node(0, -1) + Node(0, -5, -1, 2)), TdConfig(Node(1, -5))});
  for (int64_t td : {4, 100, -7, 200}) EXPECT_THAT(Add({td, 0}), IsEmpty());
  EXPECT_THAT(Add({300, 0}), ElementsAre(Rows{{4}, {0, 2}}, Rows{{0, 1, 2, 3, 4}}));
  EXPECT_THAT(priorities_, ElementsAre(testing::DoubleEq(0.6 * 7 + 0.4 * 5.5), 0.0));
}

TEST_F(PatternMatcherTest, ValuesThatGiveNoPriorityAreRefused) {
  Start({TdConfig(Node(0, 0, -1))});
  const TestArray<double> vector(DType::kFloat64, {2}, {1, 2});
  EXPECT_EQ(AddViews({vector.view()}).message(),
            "No priority can be computed of the value provided for column 0. It must be one number "
            "of dtype double, float, int32 or int64, but has dtype double and shape [2].");
  const TestArray<int8_t> narrow(DType::kInt8, {}, {1});
  EXPECT_EQ(AddViews({narrow.view()}).code(), StatusCode::kInvalidArgument);
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const TestArray<double> number(DType::kFloat64, {}, {bad});
    EXPECT_THAT(AddViews({number.view()}).message(), HasSubstr("finite"));
  }
  const TestArray<float> good(DType::kFloat32, {1}, {-2});
  ASSERT_TRUE(AddViews({good.view()}).ok());
  EXPECT_EQ(Matches(false).size(), 1u);
  EXPECT_THAT(priorities_, ElementsAre(2.0));
}

TEST_F(PatternMatcherTest, TheNumberOfValuesIsFixed) {
  Start({ConstantConfig(Node(1, 0, -1))});
  const auto one = Scalar(1);
  EXPECT_EQ(AddViews({one->view()}).message(),
            "The configs use column 1, but the flattened data has 1 columns.");
  ASSERT_TRUE(AddViews({one->view(), one->view()}).ok());
  EXPECT_EQ(AddViews({one->view(), one->view(), one->view(), one->view()}).message(),
            "Flattened data has an unexpected length, got 4 but wanted 2.");
}

TEST_F(PatternMatcherTest, AColumnIsSetOnceAStep) {
  Start({ConstantConfig(Node(0, 0, -1))});
  Add({0, std::nullopt}, true);
  const auto one = Scalar(1);
  const Status status = AddViews({one->view(), one->view()});
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("for column 0. "));
  EXPECT_TRUE(AddViews({TensorView(), one->view()}).ok());
  EXPECT_TRUE(AddViews({one->view(), one->view()}).ok());
}

TEST_F(PatternMatcherTest, OnlyWhatIsNamedIsUsed) {
  Start({ConstantConfig(Node(3, 0, -1), "conditions { flat_source_index: 5 ge: 0 }"),
         SerializedConfig(Node(3, -1) +
                          "table: 't' priority { td_error { flat_source_index: 6 } }")});
  for (int column : {0, 1, 2, 4, 6, 7}) EXPECT_FALSE(matcher_->uses_column(column));
  EXPECT_TRUE(matcher_->uses_column(3));
  EXPECT_TRUE(matcher_->uses_column(5));
}

}  // namespace
}  // namespace reverb_tf::client

#include "reverb_tf/step_matcher.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/testing/structured_config.h"
#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Steps = std::vector<std::vector<int64_t>>;  // of each column

class StepMatcherTest : public testing::Test {
 protected:
  void Start(const std::vector<std::string>& configs) {
    Result<std::unique_ptr<StepMatcher>> matcher = StepMatcher::Create(configs);
    ASSERT_TRUE(matcher.ok()) << matcher.status().ToString();
    matcher_ = std::move(matcher).value();
  }

  // Appends a step of `n` numbers.
  std::vector<Steps> Append(int n = 2) {
    const auto value = Scalar(7);
    const std::vector<TensorView> views(static_cast<size_t>(n), value->view());
    const Status status = matcher_->Append(views.data(), n, &items_);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return Chosen();
  }

  std::vector<Steps> EndEpisode(bool clear_buffers) {
    matcher_->EndEpisode(clear_buffers, &items_);
    return Chosen();
  }

  std::vector<Steps> Chosen() const {
    std::vector<Steps> chosen;
    for (const std::vector<ItemColumn>& item : items_) {
      chosen.emplace_back();
      for (const ItemColumn& column : item) {
        chosen.back().emplace_back();
        for (const RowRange& range : column.ranges)
          for (int64_t i = 0; i < range.length; ++i)
            chosen.back().back().push_back(range.first + i);
      }
    }
    return chosen;
  }

  std::unique_ptr<StepMatcher> matcher_;
  StepMatcher::Items items_;
};

TEST_F(StepMatcherTest, ItemsComeInTheOrderOfTheConfigs) {
  Start({ConstantConfig(Node(0, -1)), ConstantConfig(Node(1, -2) + Node(0, 0, -1))});
  EXPECT_EQ(matcher_->history(), 2);
  EXPECT_THAT(Append(), ElementsAre(Steps{{0}}));
  EXPECT_THAT(Append(), ElementsAre(Steps{{1}}, Steps{{0, 1}, {1}}));
  EXPECT_FALSE(items_[1][0].squeeze);
  EXPECT_TRUE(items_[1][1].squeeze);
  EXPECT_EQ(items_[1][0].ranges[0].column, 1);
  EXPECT_THAT(Append(), ElementsAre(Steps{{2}}, Steps{{1, 2}, {2}}));
}

TEST_F(StepMatcherTest, EndsOfEpisodes) {
  Start({ConstantConfig(Node(0, -2)),
         ConstantConfig(Node(0, -1), "conditions { is_end_episode: true eq: 1 }")});
  EXPECT_THAT(Append(), IsEmpty());
  EXPECT_THAT(EndEpisode(true), ElementsAre(Steps{{0}}));
  EXPECT_THAT(Append(), IsEmpty());
  EXPECT_THAT(EndEpisode(false), ElementsAre(Steps{{1}}));
  EXPECT_THAT(Append(), ElementsAre(Steps{{1, 2}}));
}

TEST_F(StepMatcherTest, PrioritiesAreNotLookedAt) {
  Start({SerializedConfig(Node(0, -1) +
                          "table: 't' priority { td_error { flat_source_index: 0 } }")});
  const TestArray<float> value(DType::kFloat32, {2}, {1, 2});
  EXPECT_TRUE(matcher_->Append(&value.view(), 1, &items_).ok());
  EXPECT_THAT(Chosen(), ElementsAre(Steps{{0}}));
}

TEST_F(StepMatcherTest, Errors) {
  EXPECT_THAT(StepMatcher::Create({}).status().message(), HasSubstr("At least one config"));
  const Status status =
      StepMatcher::Create({ConstantConfig(Node(0, -1)), ConstantConfig(Node(0, 3))}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("Invalid configuration at position 1"));

  Start({ConstantConfig(Node(1, -1))});
  const auto value = Scalar(7);
  EXPECT_EQ(matcher_->Append(&value->view(), 1, &items_).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Append(), ElementsAre(Steps{{0}}));
}

}  // namespace
}  // namespace reverb_tf::client

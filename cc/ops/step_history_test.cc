#include "cc/ops/step_history.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Appends to two columns; -1: no value.
void Append(StepHistory* history, int64_t a, int64_t b, bool partial = false) {
  const StepRef refs[2] = {{a < 0 ? -1 : 0, a}, {b < 0 ? -1 : 1, b}};
  history->Append(refs, partial);
}

StepHistory Dense(int64_t steps, int64_t capacity) {
  StepHistory history(2, capacity);
  for (int64_t i = 0; i < steps; ++i) Append(&history, i, 10 + i);
  return history;
}

// (first, length) of each range.
std::vector<std::pair<int64_t, int64_t>> Rows(const StepHistory& history, const StepChoice& choice,
                                              bool clip = true) {
  ItemColumn column;
  const Status status = history.Choose(choice, clip, "'x'", &column);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::vector<std::pair<int64_t, int64_t>> rows;
  for (const RowRange& range : column.ranges) {
    EXPECT_EQ(range.column, choice.column);
    rows.emplace_back(range.first, range.length);
  }
  return rows;
}

std::string Error(const StepHistory& history, const StepChoice& choice, bool clip = true) {
  ItemColumn column;
  const Status status = history.Choose(choice, clip, "'x'", &column);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  return status.message();
}

TEST(StepHistoryTest, SlicesAreThoseOfPython) {
  const StepHistory history = Dense(5, 5);
  EXPECT_THAT(Rows(history, {0, -2}), ElementsAre(Pair(3, 2)));
  EXPECT_THAT(Rows(history, {1, -2}), ElementsAre(Pair(13, 2)));
  EXPECT_THAT(Rows(history, {0, 1, 3}), ElementsAre(Pair(1, 2)));
  EXPECT_THAT(Rows(history, {0, -4, -1}), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(Rows(history, {0, -9, 99}), ElementsAre(Pair(0, 5)));
  EXPECT_THAT(Rows(history, {0, -1, StepChoice::kEnd, true}), ElementsAre(Pair(4, 1)));
  EXPECT_THAT(Rows(history, {0, 0, 0, true}), ElementsAre(Pair(0, 1)));
}

TEST(StepHistoryTest, HasAllStepsOrNot) {
  const StepHistory history = Dense(3, 5);
  EXPECT_TRUE(history.Has({0, -3}));
  EXPECT_FALSE(history.Has({0, -4}));
  EXPECT_TRUE(history.Has({0, 0, 3}));
  EXPECT_FALSE(history.Has({0, 0, 4}));
  EXPECT_FALSE(history.Has({0, 2, 2}));
  EXPECT_TRUE(history.Has({0, 2, 0, true}));
  EXPECT_FALSE(history.Has({0, 3, 0, true}));
  EXPECT_FALSE(history.Has({0, -4, 0, true}));
}

TEST(StepHistoryTest, StepsThatAreNotThere) {
  const StepHistory history = Dense(2, 5);
  EXPECT_THAT(Error(history, {0, -3}, /*clip=*/false), HasSubstr("[-3:] of column 'x', but"));
  EXPECT_THAT(Error(history, {0, -3, 0, true}), HasSubstr("[-3] of column 'x'"));
  EXPECT_THAT(Error(history, {0, 1, 1}), HasSubstr("has 2 steps so far"));
  EXPECT_THAT(Error(StepHistory(1, 1), {0, 0}), HasSubstr("has 0 steps so far"));
}

TEST(StepHistoryTest, OldStepsAreNotKept) {
  const StepHistory history = Dense(8, 3);
  EXPECT_EQ(history.size(), 8);
  EXPECT_THAT(Rows(history, {0, -3}), ElementsAre(Pair(5, 3)));
  EXPECT_THAT(Error(history, {0, -4}), HasSubstr("Step 4 of column 'x'"));
  EXPECT_THAT(Error(history, {0, 0}), HasSubstr("older than the 3 steps that are kept"));
}

TEST(StepHistoryTest, AStepInParts) {
  StepHistory history(2, 4);
  Append(&history, 0, -1, /*partial=*/true);
  EXPECT_TRUE(history.IsSet(0));
  EXPECT_FALSE(history.IsSet(1));
  EXPECT_EQ(history.size(), 1);
  EXPECT_THAT(Rows(history, {0, -1}), ElementsAre(Pair(0, 1)));
  EXPECT_THAT(Error(history, {1, -1}), HasSubstr("was not set"));
  Append(&history, -1, 0);
  EXPECT_FALSE(history.IsSet(0));
  EXPECT_EQ(history.size(), 1);
  EXPECT_THAT(Rows(history, {1, -1}), ElementsAre(Pair(0, 1)));
  Append(&history, 1, -1);
  Append(&history, 2, 1);
  EXPECT_EQ(history.size(), 3);
  EXPECT_THAT(Error(history, {1, -2}), HasSubstr("Step 1"));
  EXPECT_THAT(Rows(history, {1, -1}), ElementsAre(Pair(1, 1)));
}

TEST(StepHistoryTest, EpisodesEndWithOrWithoutTheirSteps) {
  StepHistory history = Dense(3, 4);
  history.EndEpisode(/*clear=*/false);
  Append(&history, 3, 13);
  EXPECT_THAT(Rows(history, {0, -4}, /*clip=*/false), ElementsAre(Pair(0, 4)));
  Append(&history, 4, -1, /*partial=*/true);
  history.EndEpisode(/*clear=*/true);
  EXPECT_EQ(history.size(), 0);
  EXPECT_FALSE(history.IsSet(0));
  Append(&history, 5, 14);
  EXPECT_THAT(Rows(history, {0, 0}), ElementsAre(Pair(5, 1)));
}

}  // namespace
}  // namespace reverb_tf::ops

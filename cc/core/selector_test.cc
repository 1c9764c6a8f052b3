// One suite over all six selectors, and what is particular to each.
#include "cc/core/selector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "cc/core/prioritized.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::HasSubstr;
using Kind = SelectorOptions::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::unique_ptr<Selector> Make(Kind kind, double exponent = 1.0) {
  return MakeSelector({kind, exponent}, 42).value();
}

class EverySelector : public ::testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Selector> selector_ = Make(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, EverySelector,
                         ::testing::Values(Kind::kFifo, Kind::kLifo, Kind::kUniform,
                                           Kind::kPrioritized, Kind::kMinHeap, Kind::kMaxHeap));

TEST_P(EverySelector, EmptyHasNothingToSample) {
  EXPECT_EQ(selector_->Sample().status().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(selector_->Insert(0, 1).ok());
  ASSERT_TRUE(selector_->Delete(0).ok());
  EXPECT_EQ(selector_->Sample().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(selector_->size(), 0u);
}

TEST_P(EverySelector, WrongSlotsAreRefusedAndChangeNothing) {
  ASSERT_TRUE(selector_->Insert(5, 1).ok());
  EXPECT_EQ(selector_->Insert(5, 1).code(), StatusCode::kInvalidArgument);
  for (Slot unknown : {0u, 4u, 6u, 1000000u}) {
    EXPECT_EQ(selector_->Delete(unknown).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(selector_->Update(unknown, 1).code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(selector_->size(), 1u);
  EXPECT_EQ(selector_->Sample()->slot, 5u);
}

TEST_P(EverySelector, NanIsRefusedAndChangesNothing) {
  const double nan = std::nan("");
  EXPECT_EQ(selector_->CheckPriority(nan).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(selector_->CheckPriority(nan).message(), HasSubstr("nan"));
  EXPECT_EQ(selector_->Insert(0, nan).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(selector_->size(), 0u);
  ASSERT_TRUE(selector_->Insert(0, 1).ok());
  EXPECT_EQ(selector_->Update(0, nan).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(selector_->Sample()->slot, 0u);
}

TEST_P(EverySelector, SampleDoesNotRemove) {
  ASSERT_TRUE(selector_->Insert(3, 2).ok());
  for (int i = 0; i < 3; ++i) {
    const Selector::Pick pick = selector_->Sample().value();
    EXPECT_EQ(pick.slot, 3u);
    EXPECT_EQ(pick.probability, 1.0);
  }
}

TEST_P(EverySelector, ClearForgetsEverything) {
  for (Slot slot = 0; slot < 100; ++slot) ASSERT_TRUE(selector_->Insert(slot, slot).ok());
  selector_->Clear();
  EXPECT_EQ(selector_->size(), 0u);
  EXPECT_EQ(selector_->Delete(3).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(selector_->Insert(7, 1).ok());
  EXPECT_EQ(selector_->Sample()->slot, 7u);
  EXPECT_EQ(selector_->size(), 1u);
}

TEST_P(EverySelector, RandomOperationsPickWhatIsHeld) {
  std::mt19937_64 random(7);
  std::set<Slot> held;
  for (int i = 0; i < 20000; ++i) {
    const Slot slot = random() % 300;
    const double priority = static_cast<double>(random() % 50);
    const bool is_held = held.count(slot) > 0;
    switch (random() % 4) {
      case 0:
      case 1:
        ASSERT_EQ(selector_->Insert(slot, priority).ok(), !is_held);
        held.insert(slot);
        break;
      case 2:
        ASSERT_EQ(selector_->Delete(slot).ok(), is_held);
        held.erase(slot);
        break;
      case 3:
        ASSERT_EQ(selector_->Update(slot, priority).ok(), is_held);
    }
    ASSERT_EQ(selector_->size(), held.size());
    if (held.empty()) continue;
    const Selector::Pick pick = selector_->Sample().value();
    ASSERT_TRUE(held.count(pick.slot));
    ASSERT_GT(pick.probability, 0);
    ASSERT_LE(pick.probability, 1);
  }
}

TEST_P(EverySelector, OptionsAndDeterminism) {
  EXPECT_EQ(selector_->options().kind, GetParam());
  EXPECT_EQ(selector_->is_deterministic(),
            GetParam() != Kind::kUniform && GetParam() != Kind::kPrioritized);
}

std::vector<Slot> Drain(Selector* selector) {
  std::vector<Slot> slots;
  while (selector->size() > 0) {
    slots.push_back(selector->Sample()->slot);
    EXPECT_TRUE(selector->Delete(slots.back()).ok());
  }
  return slots;
}

TEST(FifoTest, OrderOfInsertion) {
  const auto selector = Make(Kind::kFifo);
  for (Slot slot : {3, 1, 2, 0}) ASSERT_TRUE(selector->Insert(slot, 0).ok());
  ASSERT_TRUE(selector->Update(3, 9).ok());
  ASSERT_TRUE(selector->Delete(1).ok());
  ASSERT_TRUE(selector->Insert(1, 0).ok());
  EXPECT_EQ(Drain(selector.get()), (std::vector<Slot>{3, 2, 0, 1}));
}

TEST(LifoTest, ReverseOrderOfInsertion) {
  const auto selector = Make(Kind::kLifo);
  for (Slot slot : {3, 1, 2, 0}) ASSERT_TRUE(selector->Insert(slot, 0).ok());
  ASSERT_TRUE(selector->Update(3, 9).ok());
  ASSERT_TRUE(selector->Delete(2).ok());
  EXPECT_EQ(Drain(selector.get()), (std::vector<Slot>{0, 1, 3}));
}

TEST(HeapTest, SmallestAndLargestFirst) {
  for (const auto& [kind, expected] :
       {std::pair(Kind::kMinHeap, std::vector<Slot>{3, 0, 2, 1, 4}),
        std::pair(Kind::kMaxHeap, std::vector<Slot>{4, 1, 2, 0, 3})}) {
    const auto selector = Make(kind);
    const double priorities[] = {-1, 5, 2, -kInfinity, kInfinity};
    for (Slot slot = 0; slot < 5; ++slot) {
      ASSERT_TRUE(selector->Insert(slot, priorities[slot]).ok());
    }
    EXPECT_EQ(Drain(selector.get()), expected);
  }
}

TEST(HeapTest, LeastRecentlyInsertedOrUpdatedFirstAmongEquals) {
  for (Kind kind : {Kind::kMinHeap, Kind::kMaxHeap}) {
    const auto selector = Make(kind);
    for (Slot slot : {2, 0, 1, 3}) ASSERT_TRUE(selector->Insert(slot, 1).ok());
    ASSERT_TRUE(selector->Update(2, 1).ok());  // the same priority, but touched
    ASSERT_TRUE(selector->Update(1, 5).ok());
    ASSERT_TRUE(selector->Update(1, 1).ok());
    ASSERT_TRUE(selector->Delete(0).ok());
    ASSERT_TRUE(selector->Insert(0, 1).ok());
    EXPECT_EQ(Drain(selector.get()), (std::vector<Slot>{3, 2, 1, 0}));
  }
}

TEST(HeapTest, AgreesWithASortedSet) {
  std::mt19937_64 random(3);
  for (Kind kind : {Kind::kMinHeap, Kind::kMaxHeap}) {
    const auto selector = Make(kind);
    const double sign = kind == Kind::kMinHeap ? 1 : -1;
    std::map<Slot, std::pair<double, int>> held;
    for (int i = 0; i < 20000; ++i) {
      const Slot slot = random() % 64;
      const double priority = static_cast<double>(random() % 8);
      const bool is_held = held.count(slot) > 0;
      if (random() % 3 == 0) {
        ASSERT_EQ(selector->Delete(slot).ok(), is_held);
        held.erase(slot);
      } else {
        ASSERT_TRUE(
            (is_held ? selector->Update(slot, priority) : selector->Insert(slot, priority)).ok());
        held[slot] = {sign * priority, i};
      }
      if (held.empty()) continue;
      const auto first =
          std::min_element(held.begin(), held.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      ASSERT_EQ(selector->Sample()->slot, first->first);
    }
  }
}

// The chi-square statistic of `draws` draws, against probabilities in proportion to `weights`.
double ChiSquare(Selector* selector, const std::vector<double>& weights, int draws) {
  std::vector<int> counts(weights.size());
  double total = 0;
  for (double weight : weights) total += weight;
  for (int i = 0; i < draws; ++i) {
    const Selector::Pick pick = selector->Sample().value();
    ++counts[pick.slot];
    EXPECT_NEAR(pick.probability, weights[pick.slot] / total, 1e-12);
  }
  double statistic = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected = draws * weights[i] / total;
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "weight zero was drawn";
    } else {
      statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
  }
  return statistic;
}

// Above mean + 6 standard deviations of the distribution with so many degrees of freedom: one run
// in 10^7 or so.
double ChiSquareLimit(size_t degrees) { return degrees + 6 * std::sqrt(2.0 * degrees) + 20; }

TEST(UniformTest, Frequencies) {
  const auto selector = Make(Kind::kUniform);
  for (Slot slot = 0; slot < 103; ++slot) ASSERT_TRUE(selector->Insert(slot, slot).ok());
  for (Slot slot = 100; slot < 103; ++slot) ASSERT_TRUE(selector->Delete(slot).ok());
  EXPECT_LT(ChiSquare(selector.get(), std::vector<double>(100, 1.0), 200000), ChiSquareLimit(99));
}

TEST(PrioritizedTest, FrequenciesFollowTheWeights) {
  for (double exponent : {1.0, 0.6, 2.0, 0.0, -1.0}) {
    const auto selector = Make(Kind::kPrioritized, exponent);
    std::vector<double> weights;
    for (Slot slot = 0; slot < 200; ++slot) {
      const double priority = slot % 7 == 0 ? 0 : 0.1 + slot % 13;
      weights.push_back(priority == 0 ? 0 : std::pow(priority, exponent));
      ASSERT_TRUE(selector->Insert(slot, 1).ok());
      ASSERT_TRUE(selector->Update(slot, priority).ok());
    }
    EXPECT_LT(ChiSquare(selector.get(), weights, 200000), ChiSquareLimit(170)) << exponent;
  }
}

TEST(PrioritizedTest, TheReferencesExample) {
  const auto selector = Make(Kind::kPrioritized);
  const double priorities[] = {1.0, 0.1, 0.0};
  for (Slot slot = 0; slot < 3; ++slot) {
    ASSERT_TRUE(selector->Insert(slot, priorities[slot]).ok());
  }
  EXPECT_LT(ChiSquare(selector.get(), {1.0, 0.1, 0.0}, 100000), ChiSquareLimit(1));
}

TEST(PrioritizedTest, AllZeroIsUniform) {
  const auto selector = Make(Kind::kPrioritized);
  for (Slot slot = 0; slot < 20; ++slot) ASSERT_TRUE(selector->Insert(slot, 0).ok());
  EXPECT_LT(ChiSquare(selector.get(), std::vector<double>(20, 1.0), 50000), ChiSquareLimit(19));
  ASSERT_TRUE(selector->Update(3, 1e-300).ok());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(selector->Sample()->slot, 3u);
}

TEST(PrioritizedTest, ZeroPriorityHasNoWeightWhateverTheExponent) {
  for (double exponent : {0.0, -1.0, 1.0}) {
    const auto selector = Make(Kind::kPrioritized, exponent);
    ASSERT_TRUE(selector->Insert(0, 0).ok());
    ASSERT_TRUE(selector->Insert(1, -0.0).ok());
    ASSERT_TRUE(selector->Insert(2, 3).ok());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(selector->Sample()->slot, 2u);
  }
}

TEST(PrioritizedTest, ZeroIsNeverDrawnAmongWeightsOfAllMagnitudes) {
  const auto selector = Make(Kind::kPrioritized);
  std::mt19937_64 random(11);
  for (Slot slot = 0; slot < 4000; ++slot) {
    const int magnitude = static_cast<int>(random() % 600) - 300;
    const double priority = slot % 3 != 0 ? 0 : std::pow(10.0, magnitude % 290);
    ASSERT_TRUE(selector->Insert(slot, priority).ok());
  }
  for (int i = 0; i < 200000; ++i) {
    const Selector::Pick pick = selector->Sample().value();
    ASSERT_EQ(pick.slot % 3, 0u);
    ASSERT_GT(pick.probability, 0);
    if (i % 10 == 0) {
      const double priority = std::pow(10.0, static_cast<int>(random() % 580) - 290);
      ASSERT_TRUE(selector->Update(pick.slot, priority).ok());
    }
  }
}

TEST(PrioritizedTest, RefusesWhatHasNoFiniteWeight) {
  const auto selector = Make(Kind::kPrioritized);
  for (double bad : {-1.0, -1e-300, kInfinity, -kInfinity, 1e300}) {
    const Status status = selector->Insert(0, bad);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_THAT(selector->Insert(0, -1.5).message(), HasSubstr("Priority -1.5"));
  EXPECT_EQ(selector->size(), 0u);

  const auto square = Make(Kind::kPrioritized, 2);
  EXPECT_THAT(square->Insert(0, 1e200).message(), HasSubstr("Priority 1e+200 to the power of 2"));
  const auto inverse = Make(Kind::kPrioritized, -2);
  EXPECT_FALSE(inverse->Insert(0, 1e-200).ok());
  EXPECT_TRUE(inverse->Insert(0, 1e200).ok());
}

TEST(PrioritizedTest, SumOfTheLargestWeightsIsFinite) {
  const auto selector = Make(Kind::kPrioritized);
  for (Slot slot = 0; slot < 1000; ++slot) ASSERT_TRUE(selector->Insert(slot, 2e298).ok());
  EXPECT_NEAR(selector->Sample()->probability, 1e-3, 1e-12);
}

TEST(MakeSelectorTest, ExponentMustBeFinite) {
  for (double bad : {kInfinity, std::nan("")}) {
    EXPECT_EQ(MakeSelector({Kind::kPrioritized, bad}, 1).status().code(),
              StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace reverb_tf::core

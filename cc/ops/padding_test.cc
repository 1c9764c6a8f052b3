#include "cc/ops/padding.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace reverb_tf::ops {
namespace {

int64_t Size(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
}

// Position in an array of shape `large` of element `position` of one of shape `small`.
int64_t Place(const Dims& small, const Dims& large, int64_t position) {
  int64_t place = 0;
  int64_t stride = 1;
  for (int i = static_cast<int>(small.size()) - 1; i >= 0; --i) {
    place += position % small[i] * stride;
    position /= small[i];
    stride *= large[i];
  }
  return place;
}

TEST(PaddingTest, EveryElementHasItsPlace) {
  std::mt19937 random(1);
  for (int example = 0; example < 2000; ++example) {
    Dims small;
    Dims large;
    for (int rank = random() % 5; rank > 0; --rank) {
      small.push_back(random() % 4);
      large.push_back(small.back() + random() % 3);
    }
    std::vector<int64_t> placed(Size(large), -1);
    ForEachRun(small, large, [&](int64_t from, int64_t to, int64_t n) {
      for (int64_t i = 0; i < n; ++i) placed[to + i] = from + i;
    });
    std::vector<int64_t> expected(Size(large), -1);
    for (int64_t i = 0; i < Size(small); ++i) expected[Place(small, large, i)] = i;
    ASSERT_EQ(placed, expected);
  }
}

TEST(PaddingTest, ShorterArraysAreOneRun) {
  int runs = 0;
  ForEachRun({2, 3, 4}, {5, 3, 4}, [&](int64_t from, int64_t to, int64_t n) {
    ++runs;
    EXPECT_EQ(from, 0);
    EXPECT_EQ(to, 0);
    EXPECT_EQ(n, 24);
  });
  EXPECT_EQ(runs, 1);
}

TEST(PaddingTest, Scalars) {
  int runs = 0;
  ForEachRun({}, {}, [&](int64_t, int64_t, int64_t n) { runs += n; });
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace reverb_tf::ops

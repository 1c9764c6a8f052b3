#include "cc/core/sum_tree.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

void Append(SumTree* tree, double weight) {
  tree->Grow(tree->size() + 1);
  tree->Set(tree->size() - 1, weight);
}

// The tree that is built from the weights in one go.
double RebuiltTotal(const SumTree& tree) {
  SumTree rebuilt;
  for (size_t i = 0; i < tree.size(); ++i) Append(&rebuilt, tree.weight(i));
  return rebuilt.total();
}

long double PlainSum(const SumTree& tree) {
  long double sum = 0;
  for (size_t i = 0; i < tree.size(); ++i) sum += tree.weight(i);
  return sum;
}

TEST(SumTreeTest, GrowsThroughEveryHeight) {
  SumTree tree;
  EXPECT_EQ(tree.total(), 0);
  for (size_t n = 1; n <= 5000; ++n) {
    Append(&tree, static_cast<double>(n));
    ASSERT_EQ(tree.total(), n * (n + 1) / 2.0);
  }
  for (size_t n = 5000; n > 0; --n) {
    ASSERT_EQ(tree.total(), n * (n + 1) / 2.0);
    tree.Set(n - 1, 0);
  }
  EXPECT_EQ(tree.total(), 0);
  Append(&tree, 3);
  EXPECT_EQ(tree.total(), 3);
  tree.Clear();
  EXPECT_EQ(tree.size(), 0u);
  for (size_t n = 1; n <= 100; ++n) Append(&tree, 1);
  EXPECT_EQ(tree.total(), 100);
}

TEST(SumTreeTest, GrowsByManyAtOnce) {
  for (size_t first : {0, 1, 8, 9, 64, 70}) {
    for (size_t second : {71, 72, 513, 5000}) {
      SumTree tree;
      tree.Grow(first);
      if (first > 0) tree.Set(first - 1, 5);
      tree.Grow(second);
      tree.Grow(1);
      EXPECT_EQ(tree.size(), second);
      EXPECT_EQ(tree.total(), first > 0 ? 5 : 0);
      tree.Set(second - 1, 7);
      EXPECT_EQ(tree.total(), first > 0 ? 12 : 7);
      EXPECT_EQ(tree.Find(0.0), first > 0 ? first - 1 : second - 1);
      EXPECT_EQ(tree.Find(6.0), second - 1);
    }
  }
}

TEST(SumTreeTest, FindIsTheInverseOfTheSums) {
  SumTree tree;
  std::mt19937_64 random(5);
  std::vector<size_t> owner;  // of each unit of weight
  for (size_t i = 0; i < 700; ++i) {
    const size_t weight = random() % 4;
    Append(&tree, static_cast<double>(weight));
    owner.insert(owner.end(), weight, i);
  }
  for (size_t unit = 0; unit < owner.size(); ++unit) {
    ASSERT_EQ(tree.Find(static_cast<double>(unit)), owner[unit]);
    ASSERT_EQ(tree.Find(static_cast<double>(unit) + 0.99), owner[unit]);
  }
}

TEST(SumTreeTest, TargetBeyondTheTotalFindsAWeight) {
  SumTree tree;
  for (int i = 0; i < 100; ++i) Append(&tree, i == 20 || i == 50 ? 0.1 : 0.0);
  EXPECT_EQ(tree.Find(tree.total()), 50u);
  EXPECT_EQ(tree.Find(2 * tree.total()), 50u);
}

TEST(SumTreeTest, ExactAfterAMillionUpdatesOfMixedMagnitude) {
  SumTree tree;
  std::mt19937_64 random(9);
  const auto weight = [&random]() -> double {
    if (random() % 10 == 0) return 0;
    return std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000,
                      static_cast<int>(random() % 160) - 80);
  };
  for (int i = 0; i < 3000; ++i) Append(&tree, weight());
  for (int i = 0; i < 1'000'000; ++i) {
    tree.Set(random() % tree.size(), weight());
    if (i % 100'000 == 0) {
      ASSERT_EQ(tree.total(), RebuiltTotal(tree));
    }
  }
  EXPECT_EQ(tree.total(), RebuiltTotal(tree));
  const long double sum = PlainSum(tree);
  EXPECT_NEAR(static_cast<double>(tree.total() / sum), 1.0, 1e-14);

  // What is large leaves nothing behind.
  for (size_t i = 0; i < tree.size(); ++i) tree.Set(i, i == 77 ? 1e-30 : 0);
  EXPECT_EQ(tree.total(), 1e-30);
}

}  // namespace
}  // namespace reverb_tf::core

#include "cc/core/flat_map.h"

#include <random>
#include <unordered_map>

#include "cc/core/episode_counter.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using Map = FlatMap<uint32_t, 0xffffffff>;

TEST(FlatMapTest, InsertFindErase) {
  Map map;
  EXPECT_EQ(map.Find(1), nullptr);
  EXPECT_FALSE(map.Erase(1));
  EXPECT_TRUE(map.Insert(1, 10).second);
  EXPECT_FALSE(map.Insert(1, 20).second);
  EXPECT_EQ(*map.Insert(1, 20).first, 10u);
  EXPECT_EQ(*map.Find(1), 10u);
  EXPECT_EQ(map.Find(2), nullptr);
  EXPECT_TRUE(map.Erase(1));
  EXPECT_FALSE(map.Erase(1));
  EXPECT_EQ(map.size(), 0u);
}

// Agrees with std::unordered_map, for random keys and for keys in patterns.
TEST(FlatMapTest, AgreesWithUnorderedMap) {
  std::mt19937_64 random(1);
  for (int shift : {0, 20, 54}) {
    Map map;
    std::unordered_map<uint64_t, uint32_t> expected;
    for (uint32_t i = 0; i < 200000; ++i) {
      const uint64_t key = (random() % 1000) << shift;
      if (random() % 2 == 0) {
        ASSERT_EQ(map.Insert(key, i).second, expected.emplace(key, i).second);
      } else {
        ASSERT_EQ(map.Erase(key), expected.erase(key) == 1);
      }
      ASSERT_EQ(map.size(), expected.size());
      const uint64_t other = (random() % 1000) << shift;
      const auto found = expected.find(other);
      const uint32_t* value = map.Find(other);
      ASSERT_EQ(value != nullptr, found != expected.end());
      if (value != nullptr) {
        ASSERT_EQ(*value, found->second);
      }
    }
  }
}

TEST(EpisodeCounterTest, CountsReferences) {
  EpisodeCounter counter;
  counter.Add(7, 2);
  counter.Add(7, 1);
  counter.Add(8, 1);
  EXPECT_EQ(counter.num_episodes(), 2);
  counter.Remove(7, 2);
  EXPECT_EQ(counter.num_episodes(), 2);
  counter.Remove(7, 1);
  EXPECT_EQ(counter.num_episodes(), 1);
  EXPECT_EQ(counter.num_deleted(), 1);
  counter.Add(7, 1);
  counter.Remove(7, 1);
  EXPECT_EQ(counter.num_deleted(), 2);
}

}  // namespace
}  // namespace reverb_tf::core

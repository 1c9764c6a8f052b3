// Looking at the items of a table, and what Info says about them; changing the rate limiter.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "cc/core/random.h"
#include "cc/core/testing/table_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Kind = SelectorOptions::Kind;

class TableItemsTest : public TableTest {
 protected:
  // The keys of all pages; `between` is called before each page but the first.
  static std::vector<uint64_t> List(
      const Table& table, int64_t max_items, const std::function<void()>& between = [] {}) {
    std::vector<uint64_t> keys;
    uint64_t start = 0;
    do {
      const ItemPage page = table.List(start, max_items).value();
      EXPECT_LE(page.items.size(), static_cast<size_t>(max_items));
      for (const ItemInfo& item : page.items) keys.push_back(item.key);
      start = page.next;
      between();
    } while (start != 0);
    return keys;
  }
  std::shared_ptr<Table> MakeLarge(int64_t max_size = 100'000) {
    TableOptions options = Options(Kind::kUniform);
    options.max_size = max_size;
    return Make(options);
  }
  static void Insert(Table* table, uint64_t first, uint64_t end, double priority = 1) {
    const TrajectoryRef shared = MakeTestItem(0).trajectory;
    std::vector<NewItem> items;
    for (uint64_t key = first; key < end; ++key) items.push_back({key, priority, 0, shared});
    ASSERT_TRUE(table->Insert(std::move(items), nullptr).status.ok());
  }
  static int64_t Delete(Table* table, const std::vector<uint64_t>& keys) {
    int64_t num_deleted = -1;
    EXPECT_TRUE(table->Mutate(nullptr, 0, keys.data(), keys.size(), &num_deleted).ok());
    return num_deleted;
  }
};

TEST_F(TableItemsTest, GetKeepsTheOrderAndLeavesUnknownKeysOut) {
  const auto table = MakeLarge();
  Insert(table.get(), 1, 1000, 2.5);
  std::vector<uint64_t> keys = {999, 12345, 1, 1};
  for (uint64_t key = 990; key > 400; --key) keys.push_back(key);  // more than are taken at once
  const std::vector<SampledItem> items = table->Get(keys.data(), keys.size()).value();
  keys.erase(keys.begin() + 1);
  std::vector<uint64_t> found;
  for (const SampledItem& item : items) {
    found.push_back(item.key);
    EXPECT_EQ(item.priority, 2.5);
    EXPECT_EQ(item.probability, 0);
    EXPECT_EQ(item.times_sampled, 0);
    EXPECT_TRUE(item.trajectory);
  }
  EXPECT_EQ(found, keys);
  EXPECT_EQ(table->Info().samples, 0);
  EXPECT_TRUE(table->Get(nullptr, 0).value().empty());
}

TEST_F(TableItemsTest, ListTellsAboutEachItem) {
  const auto table = Make(Options());
  table->Insert(MakeTestItems(7), observer_);
  clock_.Advance(std::chrono::seconds(3));
  std::vector<NewItem> two;
  two.push_back({8, 2.5, 0, MakeTestTrajectory({MakeTestChunk(1, 1, 10)})});
  table->Insert(std::move(two), observer_);
  TestRequest(table.get(), 2);
  clock_.Advance(std::chrono::seconds(1));
  const ItemPage page = table->List(0, 10).value();
  EXPECT_EQ(page.next, 0u);
  ASSERT_EQ(page.items.size(), 2u);
  const ItemInfo& first = page.items[0];
  EXPECT_EQ(first.key, 7u);
  EXPECT_EQ(first.priority, 1);
  EXPECT_EQ(first.times_sampled, 2);
  EXPECT_NEAR(std::chrono::duration<double>(first.age).count(), 4, 1e-6);
  EXPECT_EQ(first.num_bytes, 4);
  EXPECT_EQ(page.items[1].key, 8u);
  EXPECT_EQ(page.items[1].priority, 2.5);
  EXPECT_NEAR(std::chrono::duration<double>(page.items[1].age).count(), 1, 1e-6);
  EXPECT_EQ(page.items[1].num_bytes, 40);
}

TEST_F(TableItemsTest, ListEndsAndRefusesEmptyPages) {
  const auto table = Make(Options());
  EXPECT_TRUE(List(*table, 1).empty());
  const ItemPage beyond = table->List(std::numeric_limits<uint64_t>::max(), 1).value();
  EXPECT_TRUE(beyond.items.empty());
  EXPECT_EQ(beyond.next, 0u);
  const Status refused = table->List(0, 0).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("a page of 0 items"));
  Insert(table.get(), 1, 4);
  EXPECT_THAT(List(*table, 2), UnorderedElementsAre(1, 2, 3));
  table->Close();
  EXPECT_EQ(table->List(0, 1).status().code(), StatusCode::kCancelled);
  const uint64_t key = 1;
  EXPECT_EQ(table->Get(&key, 1).status().code(), StatusCode::kCancelled);
}

TEST_F(TableItemsTest, APageOfATableWithGapsTakesBoundedTime) {
  const auto table = MakeLarge();
  Insert(table.get(), 0, 10'000);
  std::vector<uint64_t> most;
  for (uint64_t key = 0; key < 9'999; ++key) most.push_back(key);
  Delete(table.get(), most);
  const ItemPage page = table->List(0, 10).value();
  EXPECT_TRUE(page.items.empty());
  EXPECT_GT(page.next, 0u);
  EXPECT_LE(page.next, 40u);
  EXPECT_THAT(List(*table, 10), ElementsAre(9'999));
}

TEST_F(TableItemsTest, HugePagesAreCut) {
  const auto table = MakeLarge();
  Insert(table.get(), 0, 25'000);
  const ItemPage page = table->List(0, std::numeric_limits<int64_t>::max()).value();
  EXPECT_EQ(page.items.size(), static_cast<size_t>(Table::kMaxPage));
  EXPECT_EQ(List(*table, 20'000).size(), 25'000u);
}

// What stays is listed once, whatever comes, goes and takes the places of others.
TEST_F(TableItemsTest, ListGivesWhatStaysExactlyOnce) {
  Random random(1);
  for (int64_t max_items : {1, 7, 100}) {
    const auto table = MakeLarge();
    constexpr uint64_t kStaying = 700;
    uint64_t next = kStaying;
    std::vector<uint64_t> guests;
    // As many go as come once there are a few.
    const auto come_and_go = [&] {
      for (int i = 0; i < 5; ++i) {
        Insert(table.get(), next, next + 1);
        guests.push_back(next++);
        if (guests.size() < 100) continue;
        const size_t gone = random.Below(guests.size());
        EXPECT_EQ(Delete(table.get(), {guests[gone], next + 100}), 1);
        guests.erase(guests.begin() + static_cast<std::ptrdiff_t>(gone));
      }
    };
    for (uint64_t key = 0; key < kStaying; ++key) {
      Insert(table.get(), key, key + 1);
      if (key % 10 == 0) come_and_go();
    }
    std::map<uint64_t, int> seen;
    for (uint64_t key : List(*table, max_items, come_and_go)) ++seen[key];
    for (uint64_t key = 0; key < kStaying; ++key) EXPECT_EQ(seen[key], 1) << key;
  }
}

TEST_F(TableItemsTest, DeletedKeysAreCounted) {
  const auto table = Make(Options());
  Insert(table.get(), 1, 4);
  EXPECT_EQ(Delete(table.get(), {1, 77, 1, 3}), 2);
  EXPECT_EQ(Delete(table.get(), {}), 0);
  EXPECT_THAT(List(*table, 10), ElementsAre(2));
}

TEST_F(TableItemsTest, PriorityStatisticsFollowEveryChange) {
  TableOptions options = Options(Kind::kUniform, Kind::kFifo);
  options.max_size = 1500;  // several blocks of rows
  const auto table = Make(options);
  Random random(2);
  std::map<uint64_t, double> model;
  uint64_t next = 0;
  uint64_t oldest = 0;
  const auto check = [&] {
    const PriorityStats stats = table->Info().priorities;
    PriorityStats expected;
    for (const auto& [key, priority] : model) {
      expected.min = std::min(expected.min, priority);
      expected.max = std::max(expected.max, priority);
      expected.sum += priority;
    }
    EXPECT_EQ(stats.min, expected.min);
    EXPECT_EQ(stats.max, expected.max);
    EXPECT_NEAR(stats.sum, expected.sum, 1e-9 * std::abs(expected.sum));
  };
  check();  // of nothing
  for (int step = 0; step < 4000; ++step) {
    const double priority = 1 + random.Unit();
    const uint64_t key = oldest + random.Below(next - oldest + 1);
    switch (random.Below(5)) {
      case 0: {
        const PriorityUpdate update = {key, priority};
        ASSERT_TRUE(table->Mutate(&update, 1, nullptr, 0).ok());
        if (model.count(key) > 0) model[key] = priority;
        break;
      }
      case 1:
        EXPECT_EQ(Delete(table.get(), {key}), static_cast<int64_t>(model.erase(key)));
        break;
      default:
        Insert(table.get(), next, next + 1, priority);
        model[next++] = priority;
        while (model.size() > 1500) model.erase(model.begin());
        oldest = model.begin()->first;
    }
    if (step % 100 == 0) check();
    if (step == 3500) {
      ASSERT_TRUE(table->Reset().ok());
      model.clear();
      check();
    }
  }
  check();
}

TEST_F(TableItemsTest, PriorityStatisticsOfALargeTable) {
  const auto table = MakeLarge(50'000);
  Insert(table.get(), 0, 40'000, 3);
  Insert(table.get(), 40'000, 40'001, 7);
  Insert(table.get(), 40'001, 40'002, 1);
  const PriorityStats stats = table->Info().priorities;
  EXPECT_EQ(stats.min, 1);
  EXPECT_EQ(stats.max, 7);
  EXPECT_EQ(stats.sum, 3 * 40'000 + 8);
  Delete(table.get(), {40'000});
  EXPECT_EQ(table->Info().priorities.max, 3);
}

TEST_F(TableItemsTest, InfoSaysHowFarTheLimiterAllowsToGo) {
  const auto table = MakeQueue(3);
  EXPECT_EQ(table->Info().samples_allowed, 0);
  EXPECT_EQ(table->Info().inserts_allowed, 3);
  Insert(table.get(), 1, 3);
  EXPECT_EQ(table->Info().samples_allowed, 2);
  EXPECT_EQ(table->Info().inserts_allowed, 1);
  const auto unlimited = Make(Options());
  Insert(unlimited.get(), 1, 2);
  EXPECT_EQ(unlimited->Info().samples_allowed, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(unlimited->Info().inserts_allowed, std::numeric_limits<int64_t>::max());
}

TEST_F(TableItemsTest, BlockedInsertsGoOnAfterAChangeOfTheLimiter) {
  const auto table = MakeQueue(2);
  table->Insert(MakeTestItems(1, 2, 3, 4, 5), observer_);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2));
  ASSERT_TRUE(table->SetRateLimiter(QueueLimiter(4)).ok());
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2, 3, 4));
  const TableInfo info = table->Info();
  EXPECT_EQ(info.inserts, 4);  // what was counted stays
  EXPECT_EQ(info.rate_limiter.max_diff, 4);
  EXPECT_EQ(info.waiting_inserts, 1);
  EXPECT_THAT(table->DebugString(), HasSubstr("max_diff=4"));
}

TEST_F(TableItemsTest, BlockedSamplesGoOnAfterAChangeOfTheLimiter) {
  TableOptions options = Options();
  options.rate_limiter.min_size_to_sample = 10;
  const auto table = Make(options);
  Insert(table.get(), 1, 3);
  const TestRequest request(table.get(), 1);
  EXPECT_FALSE(request.done());
  ASSERT_TRUE(table->SetRateLimiter({1, 2, -10, 10}).ok());
  EXPECT_THAT(request.keys(), ElementsAre(1));
}

TEST_F(TableItemsTest, ALimiterThatMakesNoSenseChangesNothing) {
  const auto table = MakeQueue(2);
  const Status refused = table->SetRateLimiter({0, 1, 0, 5});
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(),
              HasSubstr("Table 'replay': Rate limiter: samples_per_insert is 0"));
  EXPECT_EQ(table->Info().rate_limiter.max_diff, 2);
  table->Close();
  EXPECT_EQ(table->SetRateLimiter(QueueLimiter(4)).code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace reverb_tf::core

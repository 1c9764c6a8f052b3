// Snapshots of tables, and filling tables from them.
#include "cc/core/table_snapshot.h"

#include <gmock/gmock.h>

#include "cc/core/testing/table_fixture.h"

namespace reverb_tf::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = SelectorOptions::Kind;

class TableSnapshotTest : public TableTest {
 protected:
  TableSnapshot Snapshot(const std::shared_ptr<Table>& table) {
    return std::move(Table::SnapshotAll({table})[0]);
  }
  static std::vector<uint64_t> Keys(const TableSnapshot& snapshot) {
    std::vector<uint64_t> keys;
    for (const TableSnapshot::Item& item : snapshot.items) keys.push_back(item.key);
    return keys;
  }
  // Items 1 to n, one after the other, sampled `samples` times.
  std::shared_ptr<Table> Filled(const TableOptions& options, uint64_t n, int64_t samples) {
    const std::shared_ptr<Table> table = Make(options);
    for (uint64_t key = 1; key <= n; ++key) {
      std::vector<NewItem> items;
      items.push_back(MakeTestItem(key, 1.0 / static_cast<double>(key), key / 2));
      EXPECT_TRUE(table->Insert(std::move(items), observer_).status.ok());
    }
    if (samples > 0) {
      EXPECT_EQ(TestRequest(table.get(), samples, TimePoint{}).keys().size(),
                static_cast<size_t>(samples));
    }
    return table;
  }
};

TEST_F(TableSnapshotTest, HoldsEverythingInTheOrderOfInsertion) {
  TableOptions options = Options();
  options.max_size = 4;
  options.signature = "";
  const auto table = Filled(options, 6, 3);
  const uint64_t gone = 4;
  ASSERT_TRUE(table->Mutate(nullptr, 0, &gone, 1).ok());
  std::vector<NewItem> items = MakeTestItems(7);
  ASSERT_TRUE(table->Insert(std::move(items), observer_).status.ok());
  const TableSnapshot snapshot = Snapshot(table);
  EXPECT_THAT(Keys(snapshot), ElementsAre(3, 5, 6, 7));
  EXPECT_EQ(snapshot.inserts, 7);
  EXPECT_EQ(snapshot.samples, 3);
  EXPECT_EQ(snapshot.deletes, 3);
  EXPECT_EQ(snapshot.items[0].times_sampled, 3);
  EXPECT_EQ(snapshot.items[0].priority, 1.0 / 3);
  EXPECT_EQ(snapshot.num_unique_samples, 1);
  EXPECT_EQ(snapshot.num_deleted_episodes, 1);
  EXPECT_EQ(snapshot.options.signature, "");
  EXPECT_FALSE(snapshot.options.seed);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_GT(snapshot.items[i].inserted_at_nanos, snapshot.items[i - 1].inserted_at_nanos);
  }
}

TEST_F(TableSnapshotTest, RestoredTablesGoOnAsTheOthersWouldHave) {
  for (const Kind kind : {Kind::kFifo, Kind::kLifo, Kind::kMinHeap, Kind::kMaxHeap}) {
    TableOptions options = Options(kind, kind);
    options.max_size = 20;
    options.max_times_sampled = 3;
    options.rate_limiter = {1.0, 5, 0.0, 15.0};
    const auto table = Filled(options, 18, 4);
    const auto restored = Make(options);
    EXPECT_EQ(restored->Restore(Snapshot(table)).value(), 0);
    const TableInfo info = table->Info();
    const TableInfo other = restored->Info();
    EXPECT_EQ(other.inserts, info.inserts);
    EXPECT_EQ(other.samples, info.samples);
    EXPECT_EQ(other.deletes, info.deletes);
    EXPECT_EQ(other.num_episodes, info.num_episodes);
    EXPECT_EQ(other.num_deleted_episodes, info.num_deleted_episodes);
    EXPECT_EQ(other.num_unique_samples, info.num_unique_samples);
    EXPECT_EQ(other.data_bytes, info.data_bytes);
    EXPECT_EQ(other.sample_state, info.sample_state);
    EXPECT_EQ(other.insert_state, info.insert_state);
    for (int i = 0; i < 20; ++i) {
      TestRequest expected(table.get(), 1, TimePoint{});
      TestRequest actual(restored.get(), 1, TimePoint{});
      EXPECT_EQ(actual.keys(), expected.keys());
      for (const auto& each : {table, restored}) {
        (void)each->Insert(MakeTestItems(static_cast<uint64_t>(100 + i)), observer_);
      }
    }
    EXPECT_EQ(Keys(Snapshot(restored)), Keys(Snapshot(table)));
    EXPECT_EQ(Snapshot(restored).samples, Snapshot(table).samples);
  }
}

TEST_F(TableSnapshotTest, TheSettingsOfTheTableHold) {
  TableOptions options = Options();
  const auto table = Filled(options, 10, 3);  // all of item 1
  options.max_size = 4;
  const auto small = Make(options);
  EXPECT_EQ(small->Restore(Snapshot(table)).value(), 6);
  EXPECT_THAT(Keys(Snapshot(small)), ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(small->Info().deletes, 6);
  EXPECT_EQ(small->Info().inserts, 10);
  EXPECT_EQ(small->Info().samples, 3);

  options.remover.kind = Kind::kLifo;
  options.max_times_sampled = 3;
  const auto other = Make(options);
  EXPECT_EQ(other->Restore(Snapshot(table)).value(), 6);
  EXPECT_THAT(Keys(Snapshot(other)), ElementsAre(2, 3, 4, 5));
}

TEST_F(TableSnapshotTest, CountsThatDoNotFitTheItemsAreMadeTo) {
  const auto table = Filled(Options(), 3, 0);
  TableSnapshot snapshot = Snapshot(table);
  snapshot.inserts = 100;  // with deletes of 0, as if there were 100 items
  const auto restored = Make(Options());
  ASSERT_TRUE(restored->Restore(std::move(snapshot)).ok());
  EXPECT_EQ(restored->Info().deletes, 97);
  snapshot = Snapshot(table);
  snapshot.inserts = 1;
  const auto other = Make(Options());
  ASSERT_TRUE(other->Restore(std::move(snapshot)).ok());
  EXPECT_EQ(other->Info().inserts, 3);
  EXPECT_EQ(other->Info().deletes, 0);
}

TEST_F(TableSnapshotTest, WhatCannotBeRestoredChangesNothing) {
  const auto table = Filled(Options(), 3, 0);
  const auto refuse = [&](const std::shared_ptr<Table>& target, TableSnapshot snapshot,
                          StatusCode code, const std::string& text) {
    const int64_t before = target->Info().inserts;
    const Status status = target->Restore(std::move(snapshot)).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(status.message(), HasSubstr(text));
    EXPECT_EQ(target->Info().inserts, before);
  };
  refuse(table, Snapshot(table), StatusCode::kFailedPrecondition, "3 items inserted");
  TableSnapshot twice = Snapshot(table);
  twice.items[2].key = 1;
  refuse(Make(Options()), std::move(twice), StatusCode::kInvalidArgument, "item 1 twice");
  TableSnapshot negative = Snapshot(table);
  negative.items[1].priority = -1;
  refuse(Make(Options(Kind::kPrioritized)), std::move(negative), StatusCode::kInvalidArgument,
         "item 2");
  const auto closed = Make(Options());
  closed->Close();
  refuse(closed, Snapshot(table), StatusCode::kCancelled, "closed");
}

TEST(DescribeDifferencesTest, OneLineForEach) {
  TableOptions here;
  here.name = "t";
  here.max_size = 3;
  TableOptions there = here;
  there.name = "other";
  there.seed = 5;
  here.max_times_sampled = 0;
  there.max_times_sampled = -1;
  EXPECT_THAT(DescribeDifferences(here, there), ElementsAre());
  there.sampler = {Kind::kPrioritized, 0.6};
  there.remover.kind = Kind::kMaxHeap;
  there.max_size = 1000;
  there.max_times_sampled = 2;
  there.rate_limiter = {2.0, 7, -1.5, 1e9};
  there.signature = "";
  EXPECT_THAT(
      DescribeDifferences(here, there),
      ElementsAre("sampler: Uniform here, Prioritized(0.6) in the checkpoint",
                  "remover: Uniform here, MaxHeap in the checkpoint",
                  "max_size: 3 here, 1000 in the checkpoint",
                  "max_times_sampled: no limit here, 2 in the checkpoint",
                  "samples_per_insert: 1 here, 2 in the checkpoint",
                  "min_size_to_sample: 1 here, 7 in the checkpoint", HasSubstr("min_diff: "),
                  HasSubstr("max_diff: "), "signature: none here, one in the checkpoint"));
}

}  // namespace
}  // namespace reverb_tf::core

#include "cc/core/table.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cc/core/testing/table_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = SelectorOptions::Kind;

TEST_F(TableTest, OptionsAreChecked) {
  const auto error = [this](auto change) {
    TableOptions options = Options();
    change(&options);
    const Status status = Table::Create(options, &clock_).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(error([](TableOptions* o) { o->name = ""; }), HasSubstr("name is empty"));
  EXPECT_THAT(error([](TableOptions* o) { o->max_size = 0; }), HasSubstr("max_size is 0"));
  EXPECT_THAT(error([](TableOptions* o) { o->rate_limiter.samples_per_insert = 0; }),
              HasSubstr("samples_per_insert is 0"));
  EXPECT_THAT(error([](TableOptions* o) {
                o->remover = {Kind::kPrioritized, std::numeric_limits<double>::infinity()};
              }),
              HasSubstr("priority_exponent is inf"));
}

TEST_F(TableTest, InsertsAndSamples) {
  const auto table = Make(Options());
  std::vector<NewItem> items = MakeTestItems(7, 8);
  items[1].priority = 2.5;
  const TrajectoryRef trajectory = items[1].trajectory;
  const Table::InsertResult result = table->Insert(std::move(items), observer_);
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.num_accepted, 2u);
  EXPECT_THAT(observer_->inserted(), ElementsAre(7, 8));
  EXPECT_EQ(observer_->num_calls(), 1);

  const TestRequest first(table.get(), 1);
  EXPECT_THAT(first.keys(), ElementsAre(7));
  const uint64_t seven = 7;
  ASSERT_TRUE(table->Mutate(nullptr, 0, &seven, 1).ok());
  const TestRequest second(table.get(), 1);
  ASSERT_THAT(second.keys(), ElementsAre(8));
  const SampledItem& item = second.result().items[0];
  EXPECT_EQ(item.priority, 2.5);
  EXPECT_EQ(item.probability, 1.0);
  EXPECT_EQ(item.table_size, 1);
  EXPECT_EQ(item.times_sampled, 1);
  EXPECT_EQ(item.inserted_at_nanos, FakeClock::kWallAtStart + 1);
  EXPECT_FALSE(item.rate_limited);
  EXPECT_EQ(item.trajectory, trajectory);
}

TEST_F(TableTest, ExistingKeyUpdatesPriorityOnly) {
  const auto table = Make(Options(Kind::kMaxHeap));
  table->Insert(MakeTestItems(1, 2), observer_);
  std::vector<NewItem> again;
  again.push_back(MakeTestItem(1, 5));
  table->Insert(std::move(again), observer_);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2, 1));
  EXPECT_EQ(table->Info().current_size, 2);
  EXPECT_EQ(table->Info().inserts, 2);
  EXPECT_EQ(table->Get(1)->priority, 5);
  EXPECT_THAT(TestRequest(table.get(), 1).keys(), ElementsAre(1));
}

TEST_F(TableTest, NewcomerIsACandidateForEviction) {
  TableOptions options = Options(Kind::kFifo, Kind::kLifo);
  options.max_size = 2;
  const auto table = Make(options);
  table->Insert(MakeTestItems(1, 2, 3), observer_);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(table->Get(1) && table->Get(2) && !table->Get(3));
  EXPECT_EQ(table->Info().inserts, 3);
  EXPECT_EQ(table->Info().deletes, 1);
}

TEST_F(TableTest, MaxTimesSampledDeletes) {
  TableOptions options = Options();
  options.max_times_sampled = 2;
  const auto table = Make(options);
  std::vector<NewItem> items = MakeTestItems(1, 2);
  items[0].times_sampled = 1;  // kept as given
  table->Insert(std::move(items), nullptr);
  const TestRequest request(table.get(), 3);
  EXPECT_THAT(request.keys(), ElementsAre(1, 2, 2));
  EXPECT_EQ(request.result().items[0].table_size, 2);
  EXPECT_EQ(request.result().items[0].times_sampled, 2);
  EXPECT_EQ(table->Info().current_size, 0);
  EXPECT_EQ(table->Info().num_unique_samples, 1);
  EXPECT_EQ(table->Info().deletes, 2);
}

TEST_F(TableTest, HugeTimesSampledDoesNotOverflow) {
  const auto table = Make(Options());
  std::vector<NewItem> items = MakeTestItems(1);
  items[0].times_sampled = std::numeric_limits<int32_t>::max();
  table->Insert(std::move(items), nullptr);
  const TestRequest request(table.get(), 2);
  EXPECT_EQ(request.result().items[1].times_sampled, std::numeric_limits<int32_t>::max());
}

TEST_F(TableTest, EpisodesAreCounted) {
  TableOptions options = Options();
  options.max_size = 2;
  const auto table = Make(options);
  std::vector<NewItem> items;
  items.push_back({1, 1, 0, MakeTestTrajectory({MakeTestChunk(1, 10), MakeTestChunk(2, 20)})});
  items.push_back({2, 1, 0, MakeTestTrajectory({MakeTestChunk(3, 20), MakeTestChunk(4, 20)})});
  table->Insert(std::move(items), nullptr);
  EXPECT_EQ(table->Info().num_episodes, 2);
  EXPECT_EQ(table->Info().num_deleted_episodes, 0);
  table->Insert(MakeTestItems(3), nullptr);  // evicts the only item of episode 10
  EXPECT_EQ(table->Info().num_episodes, 2);
  EXPECT_EQ(table->Info().num_deleted_episodes, 1);
  const uint64_t two = 2;
  ASSERT_TRUE(table->Mutate(nullptr, 0, &two, 1).ok());
  EXPECT_EQ(table->Info().num_episodes, 1);
  EXPECT_EQ(table->Info().num_deleted_episodes, 2);
}

TEST_F(TableTest, BadPriorityIsRefusedToItsSenderAlone) {
  for (const auto& [sampler, remover] :
       {std::pair(Kind::kPrioritized, Kind::kFifo), std::pair(Kind::kFifo, Kind::kPrioritized)}) {
    const auto table = Make(Options(sampler, remover));
    for (double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e308}) {
      std::vector<NewItem> items = MakeTestItems(1, 2, 3);
      items[1].priority = bad;
      const auto observer = std::make_shared<RecordingObserver>();
      const Table::InsertResult result = table->Insert(std::move(items), observer);
      EXPECT_EQ(result.status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(result.status.message(), HasSubstr("Table 'replay' refuses item 2"));
      EXPECT_EQ(result.num_accepted, 1u);
      EXPECT_THAT(observer->inserted(), ElementsAre(1));
      EXPECT_FALSE(table->Get(2) || table->Get(3));

      const PriorityUpdate updates[] = {{1, 3.0}, {1, bad}};
      const uint64_t one = 1;
      const Status status = table->Mutate(updates, 2, &one, 1);
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(status.message(), HasSubstr("the update of item 1"));
      EXPECT_EQ(table->Get(1)->priority, 1.0);  // nothing has happened
    }
    EXPECT_THAT(TestRequest(table.get(), 1).keys(), ElementsAre(1));
  }
}

TEST_F(TableTest, ItemWithoutTrajectoryIsRefused) {
  const auto table = Make(Options());
  std::vector<NewItem> items(1);
  EXPECT_EQ(table->Insert(std::move(items), observer_).status.code(), StatusCode::kInvalidArgument);
}

TEST_F(TableTest, MutateDeletesFirstAndIgnoresUnknownKeys) {
  const auto table = Make(Options());
  table->Insert(MakeTestItems(1, 2), nullptr);
  const PriorityUpdate updates[] = {{1, 3.0}, {2, 4.0}, {9, 5.0}};
  const uint64_t deletes[] = {1, 8};
  ASSERT_TRUE(table->Mutate(updates, 3, deletes, 2).ok());
  EXPECT_FALSE(table->Get(1));
  EXPECT_EQ(table->Get(2)->priority, 4.0);
  EXPECT_EQ(table->Info().deletes, 1);
}

TEST_F(TableTest, SampleEndsAtItsByteLimit) {
  const auto table = Make(Options());
  table->Insert(MakeTestItems(1), nullptr);  // 4 bytes
  EXPECT_EQ(TestRequest(table.get(), 10, kNoDeadline, 12).keys().size(), 3u);
  EXPECT_EQ(TestRequest(table.get(), 10, kNoDeadline, 0).keys().size(), 1u);
  EXPECT_EQ(TestRequest(table.get(), 0).result().status.code(), StatusCode::kInvalidArgument);
}

TEST_F(TableTest, InsertionTimesAreDistinctAndOrdered) {
  const auto table = Make(Options());
  table->Insert(MakeTestItems(1, 2, 3), nullptr);
  clock_.Advance(std::chrono::seconds(1));
  table->Insert(MakeTestItems(4), nullptr);
  EXPECT_LT(table->Get(1)->inserted_at_nanos, table->Get(2)->inserted_at_nanos);
  EXPECT_LT(table->Get(2)->inserted_at_nanos, table->Get(3)->inserted_at_nanos);
  EXPECT_EQ(table->Get(4)->inserted_at_nanos, clock_.WallNanos());
}

TEST_F(TableTest, SameSeedSameSamples) {
  TableOptions options = Options(Kind::kUniform);
  const auto one = Make(options);
  const auto two = Make(options);
  for (const auto& table : {one, two}) table->Insert(MakeTestItems(1, 2, 3, 4, 5), nullptr);
  EXPECT_EQ(TestRequest(one.get(), 50).keys(), TestRequest(two.get(), 50).keys());
}

TEST_F(TableTest, DebugStringSaysHowFarItMayGo) {
  const auto table = MakeQueue(3);
  table->Insert(MakeTestItems(1), nullptr);
  const std::string text = table->DebugString();
  EXPECT_THAT(text, HasSubstr("name='replay', sampler=Fifo"));
  EXPECT_THAT(text, HasSubstr("May sample 1 item before"));
  EXPECT_THAT(text, HasSubstr("May insert 2 items before"));
}

}  // namespace
}  // namespace reverb_tf::core

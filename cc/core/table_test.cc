#include "cc/core/table.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cc/core/testing/fake_clock.h"
#include "cc/core/testing/test_items.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = SelectorOptions::Kind;

RateLimiterOptions QueueLimiter(int64_t size) { return {1.0, 1, 0.0, static_cast<double>(size)}; }

class TableTest : public ::testing::Test {
 protected:
  static TableOptions Options(Kind sampler = Kind::kFifo, Kind remover = Kind::kFifo) {
    TableOptions options;
    options.name = "replay";
    options.sampler.kind = sampler;
    options.remover.kind = remover;
    options.max_size = 100;
    options.seed = 1;
    return options;
  }
  std::shared_ptr<Table> Make(const TableOptions& options) {
    return Table::Create(options, &clock_).value();
  }
  std::shared_ptr<Table> MakeQueue(int64_t size) {
    TableOptions options = Options();
    options.max_size = size;
    options.max_times_sampled = 1;
    options.rate_limiter = QueueLimiter(size);
    return Make(options);
  }

  FakeClock clock_;
  std::shared_ptr<RecordingObserver> observer_ = std::make_shared<RecordingObserver>();
};

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

TEST_F(TableTest, BlockedInsertsAreParkedInOrder) {
  const auto table = MakeQueue(2);
  EXPECT_EQ(table->Insert(MakeTestItems(1, 2, 3), observer_).num_accepted, 3u);
  const auto other = std::make_shared<RecordingObserver>();
  table->Insert(MakeTestItems(4), other);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2));
  EXPECT_EQ(table->Info().waiting_inserts, 2);
  EXPECT_FALSE(table->CanInsert(1));
  EXPECT_THAT(table->Info().insert_state, HasSubstr("Inserting waits for samples"));

  // An insert and a sample alternate as long as both can go on.
  const TestRequest request(table.get(), 10);
  EXPECT_THAT(request.keys(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2, 3));
  EXPECT_THAT(other->inserted(), ElementsAre(4));
  EXPECT_EQ(table->Info().current_size, 0);
}

TEST_F(TableTest, SoftLimit) {
  TableOptions options = Options();
  options.max_size = 20;  // a soft limit of 2
  options.rate_limiter = QueueLimiter(1);
  const auto table = Make(options);
  EXPECT_FALSE(table->Insert(MakeTestItems(1, 2, 3), observer_).over_soft_limit);
  EXPECT_TRUE(table->Insert(MakeTestItems(4), observer_).over_soft_limit);
}

TEST_F(TableTest, CancelInserts) {
  const auto table = MakeQueue(1);
  const auto other = std::make_shared<RecordingObserver>();
  table->Insert(MakeTestItems(1, 2), observer_);
  table->Insert(MakeTestItems(3), other);
  table->CancelInserts(observer_.get());
  EXPECT_EQ(table->Info().waiting_inserts, 1);
  EXPECT_THAT(TestRequest(table.get(), 5).keys(), ElementsAre(1, 3));
  EXPECT_THAT(observer_->inserted(), ElementsAre(1));
  EXPECT_THAT(observer_->dropped(), IsEmpty());
}

TEST_F(TableTest, BlockedSamplesAreServedInOrder) {
  const auto table = MakeQueue(10);
  const TestRequest first(table.get(), 2);
  const TestRequest second(table.get(), 2);
  EXPECT_FALSE(first.done() || second.done());
  EXPECT_EQ(table->Info().waiting_samples, 2);
  table->Insert(MakeTestItems(1, 2, 3), observer_);
  EXPECT_THAT(first.keys(), ElementsAre(1, 2));
  EXPECT_THAT(second.keys(), ElementsAre(3));  // not kept waiting for a second one
  EXPECT_TRUE(first.result().items[0].rate_limited);
  EXPECT_EQ(first.num_calls(), 1);
  table->Insert(MakeTestItems(4), observer_);
  EXPECT_FALSE(TestRequest(table.get(), 1).result().items[0].rate_limited);
}

TEST_F(TableTest, SampleTimesOut) {
  const auto table = MakeQueue(10);
  const TestRequest at_once(table.get(), 1, clock_.Now());
  EXPECT_EQ(at_once.result().status.code(), StatusCode::kDeadlineExceeded);

  const TestRequest later(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  const TestRequest patient(table.get(), 1);
  clock_.Advance(std::chrono::seconds(4));
  EXPECT_FALSE(later.done());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(later.result().status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(later.result().status.message(),
              HasSubstr("Rate Limiter: Timeout exceeded before the right to insert was acquired."));
  EXPECT_THAT(later.result().status.message(), HasSubstr("'replay'"));
  EXPECT_THAT(later.result().status.message(), HasSubstr("holds 0 of the 1"));
  EXPECT_THAT(later.result().items, IsEmpty());
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_THAT(patient.keys(), ElementsAre(1));
}

TEST_F(TableTest, FinishedRequestLeavesNoTimer) {
  const auto table = MakeQueue(10);
  const TestRequest request(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  EXPECT_EQ(clock_.num_timers(), 1u);
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_EQ(clock_.num_timers(), 0u);
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_EQ(request.num_calls(), 1);
  EXPECT_TRUE(request.result().status.ok());
}

TEST_F(TableTest, TimerDoesNotKeepTheTable) {
  auto table = MakeQueue(10);
  const TestRequest request(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  const std::weak_ptr<Table> weak = table;
  table.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(request.result().status.code(), StatusCode::kCancelled);
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_EQ(request.num_calls(), 1);
}

TEST_F(TableTest, CancelSample) {
  const auto table = MakeQueue(10);
  const TestRequest first(table.get(), 1);
  const TestRequest second(table.get(), 1);
  EXPECT_TRUE(table->CancelSample(first.ticket()));
  EXPECT_EQ(first.result().status.code(), StatusCode::kCancelled);
  EXPECT_FALSE(table->CancelSample(first.ticket()));
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_THAT(second.keys(), ElementsAre(1));
  EXPECT_FALSE(table->CancelSample(second.ticket()));
  EXPECT_EQ(first.num_calls() + second.num_calls(), 2);
}

TEST_F(TableTest, ResetKeepsParkedInserts) {
  const auto table = MakeQueue(2);
  table->Insert(MakeTestItems(1, 2, 3, 4, 5), observer_);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2));
  ASSERT_TRUE(table->Reset().ok());
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2, 3, 4));
  const TableInfo info = table->Info();
  EXPECT_EQ(info.current_size, 2);
  EXPECT_EQ(info.inserts, 2);
  EXPECT_EQ(info.deletes, 0);
  EXPECT_EQ(info.num_episodes, 1);
  EXPECT_EQ(info.waiting_inserts, 1);
}

TEST_F(TableTest, ResetKeepsParkedSamples) {
  TableOptions options = Options();
  options.rate_limiter.min_size_to_sample = 2;
  const auto table = Make(options);
  table->Insert(MakeTestItems(1), observer_);
  const TestRequest request(table.get(), 2);
  ASSERT_TRUE(table->Reset().ok());
  EXPECT_FALSE(request.done());
  EXPECT_EQ(table->Info().current_size, 0);
  table->Insert(MakeTestItems(2, 3), observer_);
  EXPECT_THAT(request.keys(), ElementsAre(2, 2));
}

TEST_F(TableTest, DeletionLetsInsertsFlow) {
  TableOptions options = Options();
  options.rate_limiter = QueueLimiter(1);
  const auto table = Make(options);
  table->Insert(MakeTestItems(1, 2), observer_);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1));
  const uint64_t one = 1;
  ASSERT_TRUE(table->Mutate(nullptr, 0, &one, 1).ok());
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2));
}

TEST_F(TableTest, CloseDropsWhatIsParked) {
  const auto table = MakeQueue(1);
  table->Insert(MakeTestItems(1, 2, 3), observer_);
  table->Close();
  table->Close();
  EXPECT_THAT(observer_->inserted(), ElementsAre(1));
  EXPECT_THAT(observer_->dropped(), ElementsAre(2, 3));
  EXPECT_EQ(observer_->why().code(), StatusCode::kCancelled);
  EXPECT_THAT(observer_->why().message(), HasSubstr("RateLimiter has been cancelled"));

  const Table::InsertResult result = table->Insert(MakeTestItems(4), observer_);
  EXPECT_EQ(result.status.code(), StatusCode::kCancelled);
  EXPECT_EQ(result.num_accepted, 0u);
  EXPECT_EQ(TestRequest(table.get(), 1).result().status.code(), StatusCode::kCancelled);
  EXPECT_EQ(table->Mutate(nullptr, 0, nullptr, 0).code(), StatusCode::kCancelled);
  EXPECT_EQ(table->Reset().code(), StatusCode::kCancelled);
  EXPECT_TRUE(table->Get(1));  // the items stay
}

TEST_F(TableTest, CloseCancelsParkedSamples) {
  const auto table = MakeQueue(1);
  const TestRequest request(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  table->Close();
  EXPECT_EQ(request.result().status.code(), StatusCode::kCancelled);
  EXPECT_EQ(clock_.num_timers(), 0u);
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

// Inserts again from inside the notice, a few times.
class ReentrantObserver : public InsertObserver {
 public:
  explicit ReentrantObserver(std::shared_ptr<Table> table) : table_(std::move(table)) {}
  void OnInserted(const uint64_t* keys, size_t n) override {
    ++depth_;
    max_depth_ = std::max(max_depth_, depth_);
    inserted_.insert(inserted_.end(), keys, keys + n);
    if (keys[n - 1] < 1000) {
      EXPECT_TRUE(table_->Insert(MakeTestItems(keys[n - 1] + 1), self_.lock()).status.ok());
    } else {
      table_.reset();
    }
    --depth_;
  }
  void OnDropped(const uint64_t*, size_t, const Status&) override { FAIL(); }

  std::weak_ptr<ReentrantObserver> self_;
  std::shared_ptr<Table> table_;
  std::vector<uint64_t> inserted_;
  int depth_ = 0;
  int max_depth_ = 0;
};

TEST_F(TableTest, ObserverMayCallTheTableAndReleaseIt) {
  auto table = Make(Options());
  const std::weak_ptr<Table> weak = table;
  const auto observer = std::make_shared<ReentrantObserver>(std::move(table));
  observer->self_ = observer;
  observer->table_->Insert(MakeTestItems(1), observer);
  EXPECT_EQ(observer->inserted_.size(), 1000u);
  EXPECT_EQ(observer->max_depth_, 1);
  EXPECT_TRUE(weak.expired());
}

TEST_F(TableTest, SampleCallbackMayCallTheTable) {
  const auto table = MakeQueue(5);
  std::vector<uint64_t> keys;
  table->Sample({1, SIZE_MAX, kNoDeadline}, [&](Table::SampleResult result) {
    keys.push_back(result.items[0].key);
    table->Insert(MakeTestItems(2), observer_);
    table->Sample({1, SIZE_MAX, kNoDeadline},
                  [&](Table::SampleResult inner) { keys.push_back(inner.items[0].key); });
  });
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_THAT(keys, ElementsAre(1, 2));
}

}  // namespace
}  // namespace reverb_tf::core

// What waits for the rate limiter: parking, deadlines, cancellation, reset, close, callbacks.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cc/core/table.h"
#include "cc/core/testing/table_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using TableWaitingTest = TableTest;

TEST_F(TableWaitingTest, BlockedInsertsAreParkedInOrder) {
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

TEST_F(TableWaitingTest, SoftLimit) {
  TableOptions options = Options();
  options.max_size = 20;  // a soft limit of 2
  options.rate_limiter = QueueLimiter(1);
  const auto table = Make(options);
  EXPECT_FALSE(table->Insert(MakeTestItems(1, 2, 3), observer_).over_soft_limit);
  EXPECT_TRUE(table->Insert(MakeTestItems(4), observer_).over_soft_limit);
}

TEST_F(TableWaitingTest, CancelInserts) {
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

TEST_F(TableWaitingTest, BlockedSamplesAreServedInOrder) {
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

TEST_F(TableWaitingTest, SampleTimesOut) {
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

TEST_F(TableWaitingTest, FinishedRequestLeavesNoTimer) {
  const auto table = MakeQueue(10);
  const TestRequest request(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  EXPECT_EQ(clock_.num_timers(), 1u);
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_EQ(clock_.num_timers(), 0u);
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_EQ(request.num_calls(), 1);
  EXPECT_TRUE(request.result().status.ok());
}

TEST_F(TableWaitingTest, TimerDoesNotKeepTheTable) {
  auto table = MakeQueue(10);
  const TestRequest request(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  const std::weak_ptr<Table> weak = table;
  table.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(request.result().status.code(), StatusCode::kCancelled);
  clock_.Advance(std::chrono::seconds(6));
  EXPECT_EQ(request.num_calls(), 1);
}

TEST_F(TableWaitingTest, CancelSample) {
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

TEST_F(TableWaitingTest, ResetKeepsParkedInserts) {
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

TEST_F(TableWaitingTest, ResetKeepsParkedSamples) {
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

TEST_F(TableWaitingTest, DeletionLetsInsertsFlow) {
  TableOptions options = Options();
  options.rate_limiter = QueueLimiter(1);
  const auto table = Make(options);
  table->Insert(MakeTestItems(1, 2), observer_);
  EXPECT_THAT(observer_->inserted(), ElementsAre(1));
  const uint64_t one = 1;
  ASSERT_TRUE(table->Mutate(nullptr, 0, &one, 1).ok());
  EXPECT_THAT(observer_->inserted(), ElementsAre(1, 2));
}

TEST_F(TableWaitingTest, CloseDropsWhatIsParked) {
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

TEST_F(TableWaitingTest, CloseCancelsParkedSamples) {
  const auto table = MakeQueue(1);
  const TestRequest request(table.get(), 1, clock_.Now() + std::chrono::seconds(5));
  table->Close();
  EXPECT_EQ(request.result().status.code(), StatusCode::kCancelled);
  EXPECT_EQ(clock_.num_timers(), 0u);
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

TEST_F(TableWaitingTest, ObserverMayCallTheTableAndReleaseIt) {
  auto table = Make(Options());
  const std::weak_ptr<Table> weak = table;
  const auto observer = std::make_shared<ReentrantObserver>(std::move(table));
  observer->self_ = observer;
  observer->table_->Insert(MakeTestItems(1), observer);
  EXPECT_EQ(observer->inserted_.size(), 1000u);
  EXPECT_EQ(observer->max_depth_, 1);
  EXPECT_TRUE(weak.expired());
}

TEST_F(TableWaitingTest, SampleCallbackMayCallTheTable) {
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

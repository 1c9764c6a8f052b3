// The version of a table, and requests that wait for one.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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

class TableVersionTest : public TableTest {
 protected:
  // Holds the newest item.
  std::shared_ptr<Table> MakeMailbox() {
    TableOptions options = Options();
    options.max_size = 1;
    return Make(options);
  }

  static Table::SampleOptions AtLeast(int64_t version, TimePoint deadline = kNoDeadline) {
    Table::SampleOptions options;
    options.min_version = version;
    options.deadline = deadline;
    return options;
  }

  // The version that a request for anything gets.
  static int64_t SampledVersion(Table* table) {
    return TestRequest(table, 1).result().items.at(0).version;
  }
};

TEST_F(TableVersionTest, CountsInserts) {
  const auto table = MakeMailbox();
  EXPECT_EQ(table->Info().version, 0);
  table->Insert(MakeTestItems(1, 2), observer_);
  EXPECT_EQ(table->Info().version, 2);
  EXPECT_EQ(SampledVersion(table.get()), 2);
  const PriorityUpdate update = {2, 5};
  ASSERT_TRUE(table->Mutate(&update, 1, nullptr, 0).ok());
  table->Insert(MakeTestItems(2), observer_);  // updates the priority
  EXPECT_EQ(SampledVersion(table.get()), 2);
  table->Insert(MakeTestItems(3), observer_);
  EXPECT_EQ(SampledVersion(table.get()), 3);
}

TEST_F(TableVersionTest, GoesOnAfterAReset) {
  const auto table = MakeMailbox();
  table->Insert(MakeTestItems(1, 2), observer_);
  ASSERT_TRUE(table->Reset().ok());
  EXPECT_EQ(table->Info().version, 2);
  table->Insert(MakeTestItems(3), observer_);
  EXPECT_EQ(table->Info().inserts, 1);
  EXPECT_EQ(SampledVersion(table.get()), 3);
}

TEST_F(TableVersionTest, SurvivesASnapshot) {
  const auto table = MakeMailbox();
  table->Insert(MakeTestItems(1, 2), observer_);
  ASSERT_TRUE(table->Reset().ok());
  table->Insert(MakeTestItems(3), observer_);
  std::vector<TableSnapshot> snapshots = Table::SnapshotAll({table});
  EXPECT_EQ(snapshots[0].version, 3);
  const auto restored = MakeMailbox();
  ASSERT_TRUE(restored->Restore(std::move(snapshots[0])).ok());
  EXPECT_EQ(SampledVersion(restored.get()), 3);
}

TEST_F(TableVersionTest, SnapshotWithoutAVersionHasThatOfItsInserts) {
  const auto table = MakeMailbox();
  table->Insert(MakeTestItems(1, 2), observer_);
  std::vector<TableSnapshot> snapshots = Table::SnapshotAll({table});
  snapshots[0].version = 0;
  const auto restored = MakeMailbox();
  ASSERT_TRUE(restored->Restore(std::move(snapshots[0])).ok());
  EXPECT_EQ(restored->Info().version, 2);
}

TEST_F(TableVersionTest, RequestWaitsForItsVersion) {
  const auto table = MakeMailbox();
  const TestRequest second(table.get(), AtLeast(2));
  const TestRequest third(table.get(), AtLeast(3));
  const TestRequest anything(table.get(), 1);
  EXPECT_EQ(table->Info().waiting_samples, 3);
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_THAT(anything.keys(), ElementsAre(1));  // not behind those that wait for more
  EXPECT_FALSE(second.done());
  table->Insert(MakeTestItems(2), observer_);
  EXPECT_THAT(second.keys(), ElementsAre(2));
  EXPECT_EQ(second.result().items[0].version, 2);
  EXPECT_TRUE(second.result().items[0].rate_limited);
  EXPECT_FALSE(third.done());
  table->Insert(MakeTestItems(3, 4), observer_);
  EXPECT_THAT(third.keys(), ElementsAre(4));
  EXPECT_EQ(third.result().items[0].version, 4);
  EXPECT_EQ(second.num_calls() + third.num_calls() + anything.num_calls(), 3);
  EXPECT_EQ(table->Info().waiting_samples, 0);
}

TEST_F(TableVersionTest, RequestForAVersionThatIsThereDoesNotWait) {
  const auto table = MakeMailbox();
  table->Insert(MakeTestItems(1, 2), observer_);
  for (const int64_t version : {0, 1, 2}) {
    EXPECT_THAT(TestRequest(table.get(), AtLeast(version)).keys(), ElementsAre(2));
  }
}

// A request that is admitted has an older ticket than one that has items already.
TEST_F(TableVersionTest, AdmittedRequestComesAfterOneThatIsBeingServed) {
  const auto table = MakeQueue(10);
  const TestRequest early(table.get(), AtLeast(2));
  const TestRequest many(table.get(), 5);
  table->Insert(MakeTestItems(1, 2, 3), observer_);
  EXPECT_THAT(many.keys(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(early.done());  // its version is there, but the queue is empty
  EXPECT_EQ(table->Info().waiting_samples, 1);
  table->Insert(MakeTestItems(4), observer_);
  EXPECT_THAT(early.keys(), ElementsAre(4));
  EXPECT_EQ(many.num_calls() + early.num_calls(), 2);
}

TEST_F(TableVersionTest, WaitingForAVersionTimesOut) {
  const auto table = MakeMailbox();
  table->Insert(MakeTestItems(1), observer_);
  const TestRequest at_once(table.get(), AtLeast(2, clock_.Now()));
  const TestRequest later(table.get(), AtLeast(7, clock_.Now() + std::chrono::seconds(5)));
  EXPECT_FALSE(later.done());
  clock_.Advance(std::chrono::seconds(5));
  for (const TestRequest* request : {&at_once, &later}) {
    EXPECT_EQ(request->result().status.code(), StatusCode::kDeadlineExceeded);
    EXPECT_THAT(request->result().status.message(),
                HasSubstr("Timeout exceeded before the right to insert was acquired."));
  }
  EXPECT_THAT(later.result().status.message(),
              HasSubstr("Table 'replay': Sampling waits for version 7; there is version 1."));
  EXPECT_EQ(clock_.num_timers(), 0u);
}

TEST_F(TableVersionTest, WaitingForAVersionCanBeCancelled) {
  const auto table = MakeMailbox();
  const TestRequest cancelled(table.get(), AtLeast(1));
  const TestRequest closed(table.get(), AtLeast(5));
  EXPECT_TRUE(table->CancelSample(cancelled.ticket()));
  EXPECT_FALSE(table->CancelSample(cancelled.ticket()));
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_EQ(table->Info().samples, 0);
  table->Close();
  for (const TestRequest* request : {&cancelled, &closed}) {
    EXPECT_EQ(request->result().status.code(), StatusCode::kCancelled);
    EXPECT_EQ(request->num_calls(), 1);
  }
}

TEST_F(TableVersionTest, NothingIsSampledOfAVersionThatIsNotWanted) {
  const auto table = MakeMailbox();
  Table::SampleOptions options = AtLeast(0, clock_.Now());
  options.unless_version = 0;
  EXPECT_THAT(TestRequest(table.get(), options).result().status.message(),
              HasSubstr("There is nothing but version 0."));
  table->Insert(MakeTestItems(1), observer_);
  EXPECT_THAT(TestRequest(table.get(), options).keys(), ElementsAre(1));
  options.unless_version = 1;
  options.deadline = kNoDeadline;
  const TestRequest unwanted(table.get(), options);
  EXPECT_EQ(unwanted.result().status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(unwanted.result().items, IsEmpty());
  EXPECT_EQ(table->Info().samples, 1);
  options.unless_version = 7;  // a version of another life of the server
  EXPECT_THAT(TestRequest(table.get(), options).keys(), ElementsAre(1));
}

}  // namespace
}  // namespace reverb_tf::core

// What a trajectory writer sends, confirmations, lost connections, and waiting.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cc/client/testing/writer_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using TrajectoryWriterStreamTest = WriterTest;

TEST_F(TrajectoryWriterStreamTest, FlushClosesOnlyWhatTheItemsNeed) {
  Start(5, 5);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  ASSERT_TRUE(writer_->Flush(1, Soon()).ok());
  EXPECT_THAT(transport_->received, IsEmpty());
  EXPECT_EQ(writer_->Flush(0, Within(Duration::zero())).code(), StatusCode::kDeadlineExceeded);
  ASSERT_EQ(transport_->received.size(), 1u);
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(writer_->Flush(0, Soon()).ok());
}

TEST_F(TrajectoryWriterStreamTest, ItemsThatGatherDuringAWriteGoOutTogether) {
  Start(1, 1);
  transport_->finish_writes = false;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Append({i}).ok());
    ASSERT_TRUE(CreateItem({Rows(0, i, 1)}).ok());
  }
  EXPECT_EQ(transport_->num_batches, 1u);
  transport_->insert_stream().FinishWrite();
  EXPECT_THAT(transport_->batch_sizes, ElementsAre(1, 4));
  // Of the chunks only the newest can be of use to another item.
  EXPECT_THAT(transport_->keep_sizes, ElementsAre(1, 1));
}

TEST_F(TrajectoryWriterStreamTest, LostConnectionIsTriedAgainInOrderWithTheSameKeys) {
  Start(4, 1);
  std::vector<uint64_t> keys;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Append({i}).ok());
    keys.push_back(CreateItem({Rows(0, std::max(0, i - 1), std::min(2, i + 1))}).value());
  }
  transport_->insert_stream().Confirm(1);
  transport_->insert_stream().Close(UnavailableError("gone"));
  EXPECT_EQ(transport_->insert_streams.size(), 1u);
  ASSERT_TRUE(Append({4}).ok());
  keys.push_back(CreateItem({Rows(0, 3, 2)}).value());
  clock_.Advance(seconds(1));
  ASSERT_EQ(transport_->insert_streams.size(), 2u);
  std::vector<uint64_t> received;
  for (const auto& item : transport_->received) received.push_back(item.item.key);
  EXPECT_THAT(received, ElementsAre(keys[0], keys[1], keys[2], keys[3],  // the first stream
                                    keys[1], keys[2], keys[3], keys[4]));
  transport_->insert_stream().Confirm(4);
  EXPECT_TRUE(writer_->Flush(0, Soon()).ok());
}

TEST_F(TrajectoryWriterStreamTest, PatienceEnds) {
  Start(1, 1);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  for (int i = 0; i < 100 && transport_->insert_stream().open(); ++i) {
    transport_->insert_stream().Close(UnavailableError("nobody listens"));
    clock_.Advance(seconds(1));
  }
  const Status status = writer_->Flush(0, Soon());
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("fake:1"));
  EXPECT_THAT(status.message(), HasSubstr("nobody listens"));
  EXPECT_EQ(Append({2}).status().code(), StatusCode::kUnavailable);
}

TEST_F(TrajectoryWriterStreamTest, ConfirmationsRenewThePatience) {
  Start(1, 1);
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(Append({i}).ok());
    ASSERT_TRUE(CreateItem({Rows(0, i, 1)}).ok());
    transport_->insert_stream().Confirm(1);
    transport_->insert_stream().Close(UnavailableError("flaky"));
    clock_.Advance(seconds(1));
  }
  EXPECT_TRUE(writer_->Flush(0, Soon()).ok());
}

TEST_F(TrajectoryWriterStreamTest, OtherErrorsAreFinal) {
  Start(1, 1);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  transport_->insert_stream().Close(NotFoundError("Priority table t was not found"));
  EXPECT_EQ(Append({1}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(writer_->Flush(0, Soon()).code(), StatusCode::kNotFound);
  EXPECT_EQ(writer_->EndEpisode(true, Soon()).code(), StatusCode::kNotFound);
  EXPECT_EQ(CreateItem({Rows(0, 0, 1)}).status().code(), StatusCode::kNotFound);
}

TEST_F(TrajectoryWriterStreamTest, CloseDropsAndCancels) {
  Start(1, 1);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  writer_->Close();
  writer_->Close();
  EXPECT_FALSE(transport_->insert_stream().open());
  EXPECT_EQ(Append({1}).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(writer_->Flush(0, Soon()).code(), StatusCode::kCancelled);
}

TEST_F(TrajectoryWriterStreamTest, CreateItemWaitsWhileTooMuchIsUnconfirmed) {
  Start(1, 1);
  ASSERT_TRUE(Append({1}).ok());
  for (int64_t i = 0; i < InsertSession::kMaxUnconfirmedItems; ++i) {
    ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  }
  const auto create = [&](Duration timeout) {
    return writer_->CreateItem("t", 1, {Rows(0, 0, 1)}, Within(timeout)).status();
  };
  const Status full = create(Duration::zero());
  EXPECT_EQ(full.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(full.message(), HasSubstr("'t'"));
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(create(Duration::zero()).ok());
}

TEST_F(TrajectoryWriterStreamTest, FlushTimesOutByTheClockAndKeepsTheItems) {
  Start(1, 1);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  Status status;
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    status = writer_->Flush(0, Within(seconds(5)));
    done = true;
  });
  while (!done) {
    clock_.Advance(seconds(1));
    std::this_thread::yield();
  }
  waiter.join();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("Timeout exceeded after 5 s"));
  EXPECT_THAT(status.message(), HasSubstr("1 unconfirmed item"));
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(writer_->Flush(0, Soon()).ok());
}

}  // namespace
}  // namespace reverb_tf::client

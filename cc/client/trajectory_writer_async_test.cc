// The trajectory writer for callers that do not block.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/log.h"
#include "cc/client/testing/writer_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/schema.pb.h"

namespace reverb_tf::client {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

// Answers when the test says so.
class SlowInfoTransport : public FakeTransport {
 public:
  CancelFunction GetServerInfo(std::function<void(Result<ServerInfo>)> callback) override {
    ++num_info_calls;
    answer_ = std::move(callback);
    return [this] { Answer(CancelledError("cancelled")); };
  }

  // Nothing happens when no call waits.
  void Answer(const Result<ServerInfo>& info) {
    if (answer_ == nullptr) return;
    std::exchange(answer_, nullptr)(info);
  }

 private:
  std::function<void(Result<ServerInfo>)> answer_;
};

class TrajectoryWriterAsyncTest : public WriterTest {
 protected:
  // A wait that is still going on calls back now, while there is somebody to call.
  ~TrajectoryWriterAsyncTest() override { writer_.reset(); }

  void StartWithItem() {
    Start(1, 1);
    ASSERT_TRUE(Append({1}).ok());
    ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  }

  // A writer that knows no signatures yet, of a server that has table 't' of one int64.
  void StartLazily() {
    deepmind::reverb::TableInfo table;
    table.set_name("t");
    auto* const spec = table.mutable_signature()->mutable_tensor_spec_value();
    spec->set_dtype(static_cast<decltype(spec->dtype())>(DType::kInt64));
    spec->mutable_shape()->add_dim()->set_size(1);
    info_.tables.push_back(table.SerializeAsString());
    Start(1, 1);
    slow_ = std::make_shared<SlowInfoTransport>();
    transport_ = slow_;
    writer_ = std::make_unique<TrajectoryWriterImpl>(
        endpoint_, TrajectoryWriterOptions(), std::make_shared<SignatureCache>(endpoint_), nullptr);
    ASSERT_TRUE(Append({1}).ok());
  }

  void Fill() {
    Start(1, 1);
    ASSERT_TRUE(Append({1}).ok());
    for (int64_t i = 0; i < InsertSession::kMaxUnconfirmedItems; ++i) {
      ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
    }
  }

  TrajectoryWriter::StatusCallback Keep() {
    return [this](const Status& status) {
      EXPECT_FALSE(status_.has_value()) << "the callback comes once";
      status_ = status;
    };
  }

  StatusCode code() const { return status_.has_value() ? status_->code() : StatusCode::kUnknown; }

  std::shared_ptr<SlowInfoTransport> slow_;
  std::optional<Status> status_;
};

TEST_F(TrajectoryWriterAsyncTest, FlushCallsBackWithTheLastConfirmation) {
  StartWithItem();
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  transport_->insert_stream().Confirm(1);
  EXPECT_FALSE(status_.has_value());
  transport_->insert_stream().Confirm(1);
  EXPECT_EQ(code(), StatusCode::kOk);
}

TEST_F(TrajectoryWriterAsyncTest, FlushCallsBackAtOnceWhenThereIsNothingToWaitFor) {
  StartWithItem();
  writer_->FlushAsync(1, kInfiniteDuration, Keep());
  EXPECT_EQ(code(), StatusCode::kOk);
}

TEST_F(TrajectoryWriterAsyncTest, FlushSendsItemsWhoseChunksWereNotFull) {
  Start(5, 5);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  ASSERT_EQ(transport_->received.size(), 1u);
  transport_->insert_stream().Confirm(1);
  EXPECT_EQ(code(), StatusCode::kOk);
}

TEST_F(TrajectoryWriterAsyncTest, ACancelledFlushKeepsTheItems) {
  StartWithItem();
  const auto cancel = writer_->FlushAsync(0, kInfiniteDuration, Keep());
  cancel();
  EXPECT_EQ(code(), StatusCode::kCancelled);
  transport_->insert_stream().Confirm(1);
  cancel();
  status_.reset();
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  EXPECT_EQ(code(), StatusCode::kOk);
}

TEST_F(TrajectoryWriterAsyncTest, AFlushTimesOutAndKeepsTheItems) {
  StartWithItem();
  writer_->FlushAsync(0, seconds(5), Keep());
  clock_.Advance(seconds(4));
  EXPECT_EQ(transport_->num_info_calls, 1);
  EXPECT_FALSE(status_.has_value());
  clock_.Advance(seconds(1));
  EXPECT_EQ(code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status_->message(), HasSubstr("Timeout exceeded after 5 s"));
  EXPECT_THAT(status_->message(), HasSubstr("Flush() waits for 1 unconfirmed"));
  status_.reset();
  writer_->FlushAsync(0, seconds(5), Keep());
  transport_->insert_stream().Confirm(1);
  EXPECT_EQ(code(), StatusCode::kOk);
  clock_.Advance(seconds(60));
}

TEST_F(TrajectoryWriterAsyncTest, AWaitForNoTimeAtAll) {
  StartWithItem();
  writer_->FlushAsync(0, Duration::zero(), Keep());
  clock_.Advance(Duration::zero());
  EXPECT_EQ(code(), StatusCode::kDeadlineExceeded);
  status_.reset();
  writer_->FlushAsync(1, Duration::zero(), Keep());
  EXPECT_EQ(code(), StatusCode::kOk);
}

TEST_F(TrajectoryWriterAsyncTest, AnItemThatWaitsForRoomTimesOut) {
  Fill();
  writer_->PrepareItemAsync("t", seconds(1), Keep());
  clock_.Advance(seconds(1));
  EXPECT_EQ(code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status_->message(), HasSubstr("CreateItem waits for"));
}

TEST_F(TrajectoryWriterAsyncTest, CloseEndsAWait) {
  StartWithItem();
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  writer_->Close();
  EXPECT_EQ(code(), StatusCode::kCancelled);
  status_.reset();
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  EXPECT_EQ(code(), StatusCode::kCancelled);
}

TEST_F(TrajectoryWriterAsyncTest, FlushRefusesANegativeNumber) {
  StartWithItem();
  writer_->FlushAsync(-1, kInfiniteDuration, Keep());
  EXPECT_EQ(code(), StatusCode::kInvalidArgument);
}

TEST_F(TrajectoryWriterAsyncTest, ALostServerEndsAFlushWhenPatienceHasRunOut) {
  StartWithItem();
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  for (int i = 0; i < 40 && !status_; ++i) {
    transport_->insert_stream().Close(UnavailableError("gone"));
    clock_.Advance(seconds(1));
  }
  EXPECT_EQ(code(), StatusCode::kUnavailable);
  EXPECT_THAT(status_->message(), HasSubstr("fake:1"));
}

TEST_F(TrajectoryWriterAsyncTest, AnItemThatNeedsNoWait) {
  StartWithItem();
  writer_->PrepareItemAsync("t", kInfiniteDuration, Keep());
  EXPECT_EQ(code(), StatusCode::kOk);
}

TEST_F(TrajectoryWriterAsyncTest, AnItemWaitsForRoom) {
  Fill();
  writer_->PrepareItemAsync("t", kInfiniteDuration, Keep());
  EXPECT_FALSE(status_.has_value());
  transport_->insert_stream().Confirm(1);
  EXPECT_EQ(code(), StatusCode::kOk);
  EXPECT_TRUE(writer_->CreateItem("t", 1, {Rows(0, 0, 1)}, Within(Duration::zero())).ok());
}

TEST_F(TrajectoryWriterAsyncTest, AnItemThatWaitsForRoomIsCancelled) {
  Fill();
  writer_->PrepareItemAsync("u", kInfiniteDuration, Keep())();
  EXPECT_EQ(code(), StatusCode::kCancelled);
}

TEST_F(TrajectoryWriterAsyncTest, TheFirstItemOfATableWaitsForItsSignature) {
  StartLazily();
  EXPECT_EQ(slow_->num_info_calls, 0);
  writer_->PrepareItemAsync("t", kInfiniteDuration, Keep());
  EXPECT_FALSE(status_.has_value());
  slow_->Answer(info_);
  EXPECT_EQ(code(), StatusCode::kOk);
  status_.reset();
  writer_->PrepareItemAsync("t", kInfiniteDuration, Keep());
  EXPECT_EQ(code(), StatusCode::kOk);
  EXPECT_EQ(slow_->num_info_calls, 1);
  EXPECT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  EXPECT_EQ(CreateItem({Rows(0, 0, 1, /*squeeze=*/true)}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(TrajectoryWriterAsyncTest, ATableThatTheServerDoesNotHave) {
  StartLazily();
  writer_->PrepareItemAsync("other", kInfiniteDuration, Keep());
  slow_->Answer(info_);
  EXPECT_EQ(code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status_->message(), HasSubstr("'other'"));
}

TEST_F(TrajectoryWriterAsyncTest, AnItemThatWaitsForASignatureIsCancelled) {
  StartLazily();
  writer_->PrepareItemAsync("t", kInfiniteDuration, Keep())();
  EXPECT_EQ(code(), StatusCode::kCancelled);
}

TEST_F(TrajectoryWriterAsyncTest, ALazyWriterAlsoFindsSignaturesBlocking) {
  StartLazily();
  transport_ = std::make_shared<FakeTransport>();
  transport_->server_info = info_;
  EXPECT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
}

TEST_F(TrajectoryWriterAsyncTest, ALongWaitIsLoggedOnce) {
  std::vector<std::string> lines;
  SetLogSink([&](const std::string& line) { lines.push_back(line); });
  StartWithItem();
  writer_->FlushAsync(0, kInfiniteDuration, Keep());
  clock_.Advance(seconds(9));
  EXPECT_EQ(transport_->num_info_calls, 1);
  EXPECT_TRUE(lines.empty());
  clock_.Advance(seconds(1));
  clock_.Advance(seconds(30));
  SetLogSink(nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("still waiting after 10 s: Flush() waits for 1 unconfirmed"));
}

}  // namespace
}  // namespace reverb_tf::client

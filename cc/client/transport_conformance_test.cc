// What every transport does, run over each.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cc/client/grpc_transport.h"
#include "cc/client/local_transport.h"
#include "cc/client/testing/test_data.h"
#include "cc/client/transport.h"
#include "cc/core/local_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A row as an item; every item has a chunk of its own.
class Items {
 public:
  OutgoingItem Make(const std::string* table, uint64_t key, double priority = 1) {
    const auto array = Scalar(static_cast<int64_t>(key));
    OutgoingItem item;
    item.table = table;
    item.item.key = key;
    item.item.priority = priority;
    item.item.trajectory = encoder_.Encode(&array->view(), 1).value();
    return item;
  }
  InsertBatch Batch(const std::string* table, const std::vector<uint64_t>& keys) {
    InsertBatch batch;
    for (uint64_t key : keys) {
      batch.items.push_back(Make(table, key));
      batch.chunks.push_back(batch.items.back().item.trajectory->chunk(0));
    }
    return batch;
  }

 private:
  StepEncoder encoder_;
};

// Waits for what the observers hear.
class Heard {
 public:
  template <typename Change>
  void Note(Change change) {
    std::lock_guard<std::mutex> lock(mu_);
    change();
    changed_.notify_all();
  }
  template <typename Condition>
  ::testing::AssertionResult Await(Condition condition) {
    std::unique_lock<std::mutex> lock(mu_);
    if (changed_.wait_for(lock, std::chrono::seconds(60), condition)) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "did not happen";
  }
  template <typename Condition>
  bool Holds(Condition condition) {
    std::lock_guard<std::mutex> lock(mu_);
    return condition();
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
};

struct InsertObserver : public InsertStreamObserver {
  void OnWritten() override {
    heard.Note([&] { ++written; });
  }
  void OnConfirmed(const uint64_t* k, size_t n) override {
    heard.Note([&] { keys.insert(keys.end(), k, k + n); });
  }
  void OnClosed(const Status& why) override {
    heard.Note([&] { closed = why; });
  }
  Heard heard;
  int written = 0;
  std::vector<uint64_t> keys;
  std::optional<Status> closed;
};

struct SampleObserver : public SampleStreamObserver {
  void OnSamples(std::vector<core::SampledItem> samples) override {
    heard.Note([&] {
      EXPECT_FALSE(samples.empty());
      for (const auto& sample : samples) {
        keys.push_back(sample.key);
        versions.push_back(sample.version);
      }
    });
  }
  void OnClosed(const Status& why) override {
    heard.Note([&] { closed = why; });
  }
  Heard heard;
  std::vector<uint64_t> keys;
  std::vector<int64_t> versions;
  std::optional<Status> closed;
};

class TransportTest : public testing::TestWithParam<Path> {
 protected:
  void Start(const std::vector<TableOptions>& tables) {
    server_ = StartServer(tables);
    const std::string address = AddressOf(*server_);
    transport_ = GetParam() == Path::kGrpc
                     ? MakeGrpcTransport(address)
                     : MakeLocalTransport(address, core::LocalRegistry::Global()->Find(address),
                                          core::Clock::System(), /*await_successor=*/false);
  }

  std::vector<uint64_t> Insert(const std::string& table, const std::vector<uint64_t>& keys) {
    const auto observer = std::make_shared<InsertObserver>();
    const auto stream = transport_->OpenInsertStream(observer);
    stream->Write(items_.Batch(&table, keys));
    EXPECT_TRUE(observer->heard.Await([&] { return observer->keys.size() == keys.size(); }));
    stream->Cancel();
    EXPECT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
    return observer->keys;
  }

  Items items_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Transport> transport_;
  const std::string q_ = "q";
};

INSTANTIATE_TEST_SUITE_P(Transports, TransportTest, testing::Values(Path::kLocal, Path::kGrpc),
                         PathName);

TEST_P(TransportTest, ConfirmsEachItemOnceInTheOrderOfTheTable) {
  Start({UniformOptions("q")});
  EXPECT_EQ(Insert("q", {1, 2, 3, 4, 5}), (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

TEST_P(TransportTest, ConfirmsOnlyWhatIsInTheTable) {
  Start({QueueOptions("q", 2)});
  const auto observer = std::make_shared<InsertObserver>();
  const auto stream = transport_->OpenInsertStream(observer);
  stream->Write(items_.Batch(&q_, {1, 2, 3, 4}));
  EXPECT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 2; }));
  const auto sampled = std::make_shared<SampleObserver>();
  const auto samples = transport_->OpenSampleStream({"q"}, sampled);
  samples->Request({2, kInfiniteDuration});
  EXPECT_TRUE(sampled->heard.Await([&] { return sampled->keys.size() == 2; }));
  EXPECT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 4; }));
  stream->Cancel();
  samples->Cancel();
}

TEST_P(TransportTest, BatchesFollowEachOther) {
  Start({UniformOptions("q")});
  const auto observer = std::make_shared<InsertObserver>();
  const auto stream = transport_->OpenInsertStream(observer);
  for (int i = 0; i < 20; ++i) {
    stream->Write(items_.Batch(&q_, {static_cast<uint64_t>(i)}));
    ASSERT_TRUE(observer->heard.Await([&] { return observer->written == i + 1; }));
  }
  EXPECT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 20; }));
  stream->Cancel();
}

TEST_P(TransportTest, UnknownTableEndsAnInsertStream) {
  Start({UniformOptions("q")});
  const auto observer = std::make_shared<InsertObserver>();
  const std::string unknown = "nope";
  const auto stream = transport_->OpenInsertStream(observer);
  stream->Write(items_.Batch(&unknown, {1}));
  ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
  EXPECT_EQ(observer->closed->code(), StatusCode::kNotFound);
  EXPECT_THAT(observer->closed->message(), HasSubstr("Priority table nope was not found"));
  EXPECT_FALSE(transport_->IsTransient(*observer->closed));
  stream->Write(items_.Batch(&q_, {1}));  // a no-op
}

TEST_P(TransportTest, RefusedPriorityEndsTheStreamAndNamesTheValue) {
  Start({PrioritizedOptions("q")});
  const auto observer = std::make_shared<InsertObserver>();
  const auto stream = transport_->OpenInsertStream(observer);
  InsertBatch batch;
  batch.items.push_back(items_.Make(&q_, 1, -3.5));
  batch.chunks.push_back(batch.items[0].item.trajectory->chunk(0));
  stream->Write(std::move(batch));
  ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
  EXPECT_EQ(observer->closed->code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(observer->closed->message(), HasSubstr("-3.5"));
  EXPECT_EQ(Insert("q", {2}), (std::vector<uint64_t>{2}));
}

TEST_P(TransportTest, CancelledInsertsAreDropped) {
  Start({QueueOptions("q", 1)});
  const auto observer = std::make_shared<InsertObserver>();
  const auto stream = transport_->OpenInsertStream(observer);
  stream->Write(items_.Batch(&q_, {1, 2}));
  EXPECT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 1; }));
  stream->Cancel();
  ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
  EXPECT_FALSE(observer->closed->ok());
}

TEST_P(TransportTest, RequestGivesExactlyWhatWasAskedFor) {
  Start({QueueOptions("q", 100)});
  Insert("q", {1, 2, 3, 4, 5, 6, 7});
  const auto observer = std::make_shared<SampleObserver>();
  const auto stream = transport_->OpenSampleStream({"q"}, observer);
  stream->Request({3, kInfiniteDuration});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 3; }));
  stream->Request({2, kInfiniteDuration});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 5; }));
  EXPECT_EQ(observer->keys, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
  stream->Cancel();
  ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
}

TEST_P(TransportTest, RequestIsAnsweredInPartsAsItemsCome) {
  Start({QueueOptions("q", 100)});
  Insert("q", {1, 2});
  const auto observer = std::make_shared<SampleObserver>();
  const auto stream = transport_->OpenSampleStream({"q"}, observer);
  stream->Request({4, kInfiniteDuration});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 2; }));
  Insert("q", {3});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 3; }));
  Insert("q", {4});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 4; }));
  stream->Cancel();
}

TEST_P(TransportTest, SampleTimeouts) {
  Start({QueueOptions("q", 100)});
  for (const Duration timeout : {Duration::zero(), Duration(milliseconds(20))}) {
    Insert("q", {1});
    const auto observer = std::make_shared<SampleObserver>();
    const auto stream = transport_->OpenSampleStream({"q"}, observer);
    stream->Request({2, timeout});
    ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
    EXPECT_TRUE(IsRateLimiterTimeout(*observer->closed)) << observer->closed->ToString();
    EXPECT_EQ(observer->keys.size(), 1u);
    EXPECT_FALSE(transport_->IsTransient(*observer->closed));
  }
}

TEST_P(TransportTest, RequestWaitsForAVersion) {
  TableOptions options = UniformOptions("q");
  options.max_size = 1;
  Start({options});
  Insert("q", {1});
  const auto observer = std::make_shared<SampleObserver>();
  const auto stream = transport_->OpenSampleStream({"q"}, observer);
  SampleRequest request;
  request.min_version = 2;
  stream->Request(request);
  Insert("q", {2});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 1; }));
  EXPECT_EQ(observer->keys, std::vector<uint64_t>{2});
  EXPECT_EQ(observer->versions, std::vector<int64_t>{2});
  request.min_version = 0;
  request.unless_version = 2;
  stream->Request(request);
  ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
  EXPECT_TRUE(IsRateLimiterTimeout(*observer->closed)) << observer->closed->ToString();
  EXPECT_EQ(observer->keys.size(), 1u);
}

TEST_P(TransportTest, UnknownTableEndsASampleStream) {
  Start({UniformOptions("q")});
  const auto observer = std::make_shared<SampleObserver>();
  const auto stream = transport_->OpenSampleStream({"nope"}, observer);
  stream->Request({1, kInfiniteDuration});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
  EXPECT_EQ(observer->closed->code(), StatusCode::kNotFound);
}

TEST_P(TransportTest, CancelledRequestTakesNothing) {
  Start({QueueOptions("q", 100)});
  for (int i = 0; i < 10; ++i) {
    const auto observer = std::make_shared<SampleObserver>();
    const auto stream = transport_->OpenSampleStream({"q"}, observer);
    stream->Request({1, kInfiniteDuration});
    stream->Cancel();
    ASSERT_TRUE(observer->heard.Await([&] { return observer->closed.has_value(); }));
  }
  // The server may hear of the cancellation after this; another round trip makes sure.
  const auto last = std::make_shared<SampleObserver>();
  const auto late = transport_->OpenSampleStream({"q"}, last);
  late->Request({1, milliseconds(200)});
  ASSERT_TRUE(last->heard.Await([&] { return last->closed.has_value(); }));
  Insert("q", {1});
  const auto observer = std::make_shared<SampleObserver>();
  const auto stream = transport_->OpenSampleStream({"q"}, observer);
  stream->Request({1, kInfiniteDuration});
  ASSERT_TRUE(observer->heard.Await([&] { return observer->keys.size() == 1; }));
  stream->Cancel();
}

TEST_P(TransportTest, StreamsThatWereNeverUsedEndWhenCancelled) {
  Start({QueueOptions("q", 1)});
  const auto samples = std::make_shared<SampleObserver>();
  transport_->OpenSampleStream({"q"}, samples)->Cancel();
  ASSERT_TRUE(samples->heard.Await([&] { return samples->closed.has_value(); }));
  EXPECT_EQ(samples->closed->code(), StatusCode::kCancelled);
  const auto inserts = std::make_shared<InsertObserver>();
  transport_->OpenInsertStream(inserts)->Cancel();
  ASSERT_TRUE(inserts->heard.Await([&] { return inserts->closed.has_value(); }));
  EXPECT_EQ(inserts->closed->code(), StatusCode::kCancelled);
}

TEST_P(TransportTest, StoppedServerEndsStreams) {
  Start({QueueOptions("q", 1)});
  const auto samples = std::make_shared<SampleObserver>();
  const auto sample_stream = transport_->OpenSampleStream({"q"}, samples);
  sample_stream->Request({5, kInfiniteDuration});
  Insert("q", {1});
  ASSERT_TRUE(samples->heard.Await([&] { return samples->keys.size() == 1; }));
  server_->Stop();
  ASSERT_TRUE(samples->heard.Await([&] { return samples->closed.has_value(); }));
  EXPECT_EQ(samples->closed->code(), StatusCode::kCancelled) << samples->closed->ToString();
}

// Whatever the server has seen of a stream when it stops, its client hears of a stop, not of a lost
// connection.
TEST_P(TransportTest, StopMeetsInsertsOnTheirWay) {
  for (uint64_t round = 0; round < 20; ++round) {
    Start({UniformOptions("t")});
    const std::string table = "t";
    const auto observer = std::make_shared<InsertObserver>();
    const auto stream = transport_->OpenInsertStream(observer);
    stream->Write(items_.Batch(&table, {1}));
    ASSERT_TRUE(observer->heard.Await(
        [&] { return observer->keys.size() == 1 && observer->written == 1; }));
    std::thread stop([&] { server_->Stop(); });
    const auto is_closed = [&] { return observer->closed.has_value(); };
    for (int number = 2; !observer->heard.Holds(is_closed); ++number) {
      stream->Write(items_.Batch(&table, {static_cast<uint64_t>(number)}));
      ASSERT_TRUE(
          observer->heard.Await([&] { return is_closed() || observer->written == number; }));
    }
    stop.join();
    EXPECT_EQ(observer->closed->code(), StatusCode::kCancelled) << observer->closed->ToString();
  }
}

TEST_P(TransportTest, UnaryCalls) {
  Start({PrioritizedOptions("q")});
  Insert("q", {1, 2});
  Heard heard;
  std::vector<Status> statuses;
  std::optional<ServerInfo> info;
  const auto note = [&](const Status& status) { heard.Note([&] { statuses.push_back(status); }); };
  transport_->Mutate("q", {{1, 4}}, {2, 77}, note);
  ASSERT_TRUE(heard.Await([&] { return statuses.size() == 1; }));
  transport_->Mutate("q", {{1, -4}}, {}, note);
  ASSERT_TRUE(heard.Await([&] { return statuses.size() == 2; }));
  transport_->Mutate("x", {}, {}, note);
  ASSERT_TRUE(heard.Await([&] { return statuses.size() == 3; }));
  transport_->Reset("q", note);
  ASSERT_TRUE(heard.Await([&] { return statuses.size() == 4; }));
  transport_->Reset("x", note);
  ASSERT_TRUE(heard.Await([&] { return statuses.size() == 5; }));
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].ToString();
  EXPECT_EQ(statuses[1].code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(statuses[2].code(), StatusCode::kNotFound);
  EXPECT_TRUE(statuses[3].ok());
  EXPECT_EQ(statuses[4].code(), StatusCode::kNotFound);
  transport_->GetServerInfo(
      [&](Result<ServerInfo> result) { heard.Note([&] { info = std::move(result).value(); }); });
  ASSERT_TRUE(heard.Await([&] { return info.has_value(); }));
  EXPECT_EQ(info->tables.size(), 1u);
  EXPECT_TRUE(info->state_id_high != 0 || info->state_id_low != 0);
}

}  // namespace
}  // namespace reverb_tf::client

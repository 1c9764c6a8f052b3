// The server over real gRPC on the loopback.
#include "reverb_tf/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <thread>

#include "cc/core/local_registry.h"
#include "cc/core/table.h"
#include "cc/server/testing/test_peer.h"

namespace reverb_tf::server {
namespace {

using testing::FillItem;
using testing::InsertCall;
using testing::MakeChunk;
using testing::MakeQueue;
using testing::MakeTable;
using testing::OneItem;
using testing::SampleCall;
using testing::Samples;
using testing::WaitUntil;

constexpr char kTimeoutText[] =
    "Rate Limiter: Timeout exceeded before the right to insert was acquired.";

std::unique_ptr<Server> StartServer(std::vector<std::shared_ptr<Table>> tables) {
  ServerOptions options;
  options.tables = std::move(tables);
  return Server::Start(std::move(options)).value();
}

class ServerTest : public ::testing::Test {
 protected:
  ServerTest()
      : table_(MakeTable("t", 1000)),
        queue_(MakeQueue("queue", 2)),
        server_(StartServer({table_, queue_, MakePrioritized()})),
        stub_(deepmind::reverb::ReverbService::NewStub(grpc::CreateChannel(
            "127.0.0.1:" + std::to_string(server_->port()), ClientCredentials()))) {}

  static std::shared_ptr<grpc::ChannelCredentials> ClientCredentials() {
    return grpc::InsecureChannelCredentials();
  }

  static std::shared_ptr<Table> MakePrioritized() {
    TableOptions options;
    options.name = "prioritized";
    options.sampler.kind = SelectorOptions::Kind::kPrioritized;
    options.max_size = 100;
    return Table::Create(std::move(options)).value();
  }

  // The stream ends with the code and a message that contains the text.
  void ExpectInsertError(const testing::InsertStreamRequest& request, grpc::StatusCode code,
                         const std::string& text) {
    const grpc::Status status = InsertCall(stub_.get()).SendOnly(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
  }
  void ExpectSampleError(const testing::SampleStreamRequest& request, grpc::StatusCode code,
                         const std::string& text) {
    const grpc::Status status = SampleCall(stub_.get()).SendOnly(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
  }

  // The server still serves a client that does everything right.
  void ExpectHealthy() {
    InsertCall insert(stub_.get());
    ASSERT_TRUE(insert.stream->Write(OneItem(next_key_)));
    EXPECT_EQ(insert.ReadKeys(1), std::vector<uint64_t>{next_key_});
    ++next_key_;
    insert.stream->WritesDone();
    EXPECT_TRUE(insert.Finish().ok());
    SampleCall sample(stub_.get());
    sample.stream->Write(Samples(1));
    EXPECT_EQ(sample.ReadKeys(1).size(), 1u);
  }

  core::TableInfo Info(const std::shared_ptr<Table>& table) const { return table->impl()->Info(); }

  std::shared_ptr<Table> table_;
  std::shared_ptr<Table> queue_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<deepmind::reverb::ReverbService::Stub> stub_;
  uint64_t next_key_ = 1000000;
};

TEST_F(ServerTest, InsertsAndSamples) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request;
  *request.add_chunks() = MakeChunk(7, 100, 5);
  FillItem(1, "t", 7, 0.5, request.add_items(), 3);
  FillItem(2, "queue", 7, 2, request.add_items(), 5);
  request.add_keep_chunk_keys(7);
  ASSERT_TRUE(insert.stream->Write(request));
  std::vector<uint64_t> keys = insert.ReadKeys(2);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<uint64_t>{1, 2}));

  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(2));
  testing::SampleStreamResponse response;
  std::vector<testing::SampleStreamResponse::SampleEntry> entries;
  while (entries.size() < 2 && sample.stream->Read(&response)) {
    entries.insert(entries.end(), response.entries().begin(), response.entries().end());
  }
  ASSERT_EQ(entries.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const auto& info = entries[i].info();
    EXPECT_EQ(info.item().key(), 1u);
    EXPECT_EQ(info.item().table(), "t");
    EXPECT_EQ(info.item().priority(), 0.5);
    EXPECT_EQ(info.item().times_sampled(), i + 1);
    EXPECT_GT(info.item().inserted_at().seconds(), 1600000000);
    EXPECT_EQ(info.item().flat_trajectory().columns(0).chunk_slices(0).length(), 3);
    EXPECT_EQ(info.probability(), 1);
    EXPECT_EQ(info.table_size(), 1);
    ASSERT_EQ(entries[i].data_size(), 1);
    EXPECT_EQ(entries[i].data(0).SerializeAsString(), MakeChunk(7, 100, 5).SerializeAsString());
    EXPECT_TRUE(entries[i].end_of_sequence());
  }
  // Another table in the next request of the same stream.
  sample.stream->Write(Samples(1, "queue"));
  EXPECT_EQ(sample.ReadKeys(1), std::vector<uint64_t>{2});
  sample.stream->WritesDone();
  EXPECT_TRUE(sample.Finish().ok());
}

TEST_F(ServerTest, EveryItemIsAcknowledgedOnceUpdatesIncluded) {
  InsertCall insert(stub_.get());
  std::thread writer([&insert] {
    for (uint64_t i = 0; i < 500; ++i) insert.stream->Write(OneItem(i / 2 + 1));
  });
  std::vector<uint64_t> keys = insert.ReadKeys(500);
  writer.join();
  std::sort(keys.begin(), keys.end());
  ASSERT_EQ(keys.size(), 500u);
  for (uint64_t i = 0; i < 500; ++i) EXPECT_EQ(keys[i], i / 2 + 1);
  EXPECT_EQ(Info(table_).current_size, 250);
}

TEST_F(ServerTest, ManyItemsInAMessage) {
  testing::InsertStreamRequest request;
  *request.add_chunks() = MakeChunk(1, 0);
  for (uint64_t key = 1; key <= 900; ++key) FillItem(key, "t", 1, 1, request.add_items());
  InsertCall insert(stub_.get());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(900).size(), 900u);
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(5000));
  EXPECT_EQ(sample.ReadKeys(5000).size(), 5000u);
  EXPECT_EQ(Info(table_).samples, 5000);
}

TEST_F(ServerTest, LargeMessages) {
  InsertCall insert(stub_.get());
  for (uint64_t key = 1; key <= 3; ++key) insert.stream->Write(OneItem(key, "t", 1, 20 << 20));
  EXPECT_EQ(insert.ReadKeys(3).size(), 3u);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  const auto stub = deepmind::reverb::ReverbService::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(server_->port()), ClientCredentials(), arguments));
  SampleCall sample(stub.get());
  sample.stream->Write(Samples(4));
  EXPECT_EQ(sample.ReadKeys(4).size(), 4u);
}

TEST_F(ServerTest, BadInsertsEndTheirStreamOnly) {
  ExpectInsertError({}, grpc::INVALID_ARGUMENT, "neither chunks nor items");
  testing::InsertStreamRequest keep_only;
  keep_only.add_keep_chunk_keys(1);
  ExpectInsertError(keep_only, grpc::INVALID_ARGUMENT, "neither chunks nor items");
  ExpectInsertError(OneItem(1, "nowhere"), grpc::NOT_FOUND, "Priority table nowhere was not found");
  auto request = OneItem(1);
  request.clear_chunks();
  ExpectInsertError(request, grpc::INTERNAL, "Could not find sequence chunk 1.");
  request = OneItem(1);
  request.mutable_items(0)->clear_flat_trajectory();
  ExpectInsertError(request, grpc::INVALID_ARGUMENT, "");
  request = OneItem(1);
  request.add_keep_chunk_keys(5);
  ExpectInsertError(request, grpc::FAILED_PRECONDITION, "5");
  request = OneItem(1);
  request.add_keep_chunk_keys(1);
  request.add_keep_chunk_keys(1);
  ExpectInsertError(request, grpc::FAILED_PRECONDITION, "twice");
  for (const double priority :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ExpectInsertError(OneItem(1, "prioritized", priority), grpc::INVALID_ARGUMENT, "prioritized");
  }
  ExpectHealthy();
}

TEST_F(ServerTest, ItemsBeforeABadOneAreAcceptedAndAcknowledged) {
  testing::InsertStreamRequest request = OneItem(1);
  FillItem(2, "t", 1, 1, request.add_items());
  FillItem(3, "nowhere", 1, 1, request.add_items());
  FillItem(4, "t", 1, 1, request.add_items());
  InsertCall insert(stub_.get());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(10), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(insert.Finish().error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Info(table_).current_size, 2);
}

TEST_F(ServerTest, KeepListsOfMessagesWithoutItemsAreIgnored) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest chunk_only;
  *chunk_only.add_chunks() = MakeChunk(5, 1);
  chunk_only.add_keep_chunk_keys(12345);
  insert.stream->Write(chunk_only);
  // The chunk is held, may be sent again, and goes with the first keep list that counts.
  testing::InsertStreamRequest items = chunk_only;
  items.clear_keep_chunk_keys();
  FillItem(1, "t", 5, 1, items.add_items());
  insert.stream->Write(items);
  EXPECT_EQ(insert.ReadKeys(1).size(), 1u);
  items.clear_chunks();
  insert.stream->Write(items);
  EXPECT_EQ(insert.Finish().error_code(), grpc::INTERNAL);
}

TEST_F(ServerTest, BadSampleRequestsEndTheirStreamOnly) {
  for (const int64_t n : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    ExpectSampleError(Samples(n), grpc::INVALID_ARGUMENT, "num_samples");
  }
  ExpectSampleError(Samples(1, "nowhere"), grpc::NOT_FOUND, "Priority table nowhere was not found");
  ExpectHealthy();
}

TEST_F(ServerTest, SampleTimeouts) {
  auto request = Samples(1);
  request.mutable_rate_limiter_timeout()->set_milliseconds(1);
  ExpectSampleError(request, grpc::DEADLINE_EXCEEDED, kTimeoutText);
  request.set_rate_limiter_timeout_nanos(0);
  request.mutable_rate_limiter_timeout()->set_milliseconds(3600 * 1000);
  ExpectSampleError(request, grpc::DEADLINE_EXCEEDED, kTimeoutText);
  EXPECT_EQ(Info(table_).waiting_samples, 0);
  ExpectHealthy();
}

TEST_F(ServerTest, WithoutATimeoutSamplesWait) {
  for (const int64_t millis : {0, -1}) {
    SampleCall sample(stub_.get());
    auto request = Samples(1, "queue");
    request.mutable_rate_limiter_timeout()->set_milliseconds(millis);
    sample.stream->Write(request);
    WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
    InsertCall insert(stub_.get());
    insert.stream->Write(OneItem(3, "queue"));
    EXPECT_EQ(sample.ReadKeys(1), std::vector<uint64_t>{3});
  }
}

TEST_F(ServerTest, HalfClosedSampleStreamStillDelivers) {
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(2, "queue"));
  sample.stream->WritesDone();
  WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1, "queue"));
  insert.stream->Write(OneItem(2, "queue"));
  EXPECT_EQ(sample.ReadKeys(2), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(sample.Finish().ok());
}

TEST_F(ServerTest, CancelledSampleStreamTakesNothing) {
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(5, "queue"));
  WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
  sample.context.TryCancel();
  EXPECT_EQ(sample.Finish().error_code(), grpc::CANCELLED);
  WaitUntil([this] { return Info(queue_).waiting_samples == 0; });
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1, "queue"));
  EXPECT_EQ(insert.ReadKeys(1).size(), 1u);
  EXPECT_EQ(Info(queue_).samples, 0);
  EXPECT_EQ(Info(queue_).current_size, 1);
}

TEST_F(ServerTest, CancelledInsertStreamDropsWhatIsParked) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request = OneItem(1, "queue");
  for (uint64_t key = 2; key <= 6; ++key) FillItem(key, "queue", 1, 1, request.add_items());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(2).size(), 2u);
  EXPECT_EQ(Info(queue_).waiting_inserts, 4);
  insert.context.TryCancel();
  EXPECT_EQ(insert.Finish().error_code(), grpc::CANCELLED);
  WaitUntil([this] { return Info(queue_).waiting_inserts == 0; });
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(2, "queue"));
  EXPECT_EQ(sample.ReadKeys(2), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(Info(queue_).current_size, 0);
}

TEST_F(ServerTest, HalfClosedInsertStreamEndsAndLeavesWhatIsParked) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request = OneItem(1, "t");
  FillItem(2, "queue", 1, 1, request.add_items());
  FillItem(3, "queue", 1, 1, request.add_items());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(3).size(), 3u);
  // One item over the queue's size: parked, and as many as its soft limit allows before reading
  // pauses.
  insert.stream->Write(OneItem(4, "queue"));
  insert.stream->WritesDone();
  EXPECT_TRUE(insert.Finish().ok());
  EXPECT_EQ(Info(queue_).waiting_inserts, 1);
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(3, "queue"));
  EXPECT_EQ(sample.ReadKeys(3), (std::vector<uint64_t>{2, 3, 4}));
}

TEST_F(ServerTest, ReadingPausesWhileTheTableHasTooMuchParked) {
  InsertCall insert(stub_.get());
  for (uint64_t key = 1; key <= 12; ++key) insert.stream->Write(OneItem(key, "queue"));
  insert.stream->WritesDone();
  // Each sample lets one insert pass, which makes the stream read on; all arrive in order.
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(10, "queue"));
  EXPECT_EQ(sample.ReadKeys(10), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(insert.ReadKeys(12).size(), 12u);
  EXPECT_TRUE(insert.Finish().ok());
}

TEST_F(ServerTest, UnaryCalls) {
  ExpectHealthy();
  const uint64_t key = next_key_ - 1;
  const auto mutate = [this](const deepmind::reverb::MutatePrioritiesRequest& request) {
    grpc::ClientContext context;
    deepmind::reverb::MutatePrioritiesResponse response;
    return stub_->MutatePriorities(&context, request, &response).error_code();
  };
  deepmind::reverb::MutatePrioritiesRequest request;
  request.set_table("nowhere");
  EXPECT_EQ(mutate(request), grpc::NOT_FOUND);
  request.set_table("t");
  auto* update = request.add_updates();
  update->set_key(key);
  update->set_priority(5);
  request.add_delete_keys(12345);
  EXPECT_EQ(mutate(request), grpc::OK);
  EXPECT_EQ(table_->impl()->Get(key)->priority, 5);
  update->set_priority(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(mutate(request), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(table_->impl()->Get(key)->priority, 5);
  request.clear_updates();
  request.add_delete_keys(key);
  EXPECT_EQ(mutate(request), grpc::OK);
  EXPECT_EQ(Info(table_).current_size, 0);

  ExpectHealthy();
  const auto reset = [this](const std::string& table) {
    grpc::ClientContext context;
    deepmind::reverb::ResetRequest request;
    deepmind::reverb::ResetResponse response;
    request.set_table(table);
    return stub_->Reset(&context, request, &response).error_code();
  };
  EXPECT_EQ(reset("nowhere"), grpc::NOT_FOUND);
  EXPECT_EQ(reset("t"), grpc::OK);
  EXPECT_EQ(Info(table_).current_size, 0);

  grpc::ClientContext context;
  deepmind::reverb::CheckpointResponse checkpoint;
  EXPECT_EQ(stub_->Checkpoint(&context, {}, &checkpoint).error_code(), grpc::INVALID_ARGUMENT);
}

TEST_F(ServerTest, ServerInfo) {
  grpc::ClientContext context;
  deepmind::reverb::ServerInfoResponse info;
  ASSERT_TRUE(stub_->ServerInfo(&context, {}, &info).ok());
  EXPECT_NE(info.tables_state_id().high() | info.tables_state_id().low(), 0u);
  std::set<std::string> names;
  for (const auto& table : info.table_info()) names.insert(table.name());
  EXPECT_EQ(names, (std::set<std::string>{"t", "queue", "prioritized"}));
}

TEST_F(ServerTest, InitializeConnectionGivesNoAddress) {
  grpc::ClientContext context;
  auto stream = stub_->InitializeConnection(&context);
  deepmind::reverb::InitializeConnectionRequest request;
  request.set_pid(getpid());
  request.set_table_name("t");
  stream->Write(request);
  deepmind::reverb::InitializeConnectionResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServerTest, StopEndsBlockedCalls) {
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(1, "queue"));
  WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
  const auto blocked = MakeQueue("blocked", 1);
  InsertCall insert(stub_.get());
  InsertCall idle(stub_.get());
  idle.stream->Write(OneItem(1));
  EXPECT_EQ(idle.ReadKeys(1).size(), 1u);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([this] { server_->Stop(); });
  const auto sample_code = sample.Finish().error_code();
  EXPECT_TRUE(sample_code == grpc::CANCELLED || sample_code == grpc::UNAVAILABLE) << sample_code;
  EXPECT_FALSE(idle.Finish().ok());
  EXPECT_FALSE(insert.Finish().ok());
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(server_->Wait({}).ok());
  server_->Stop();
}

TEST_F(ServerTest, StopEndsParkedInserts) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request = OneItem(1, "queue");
  for (uint64_t key = 2; key <= 4; ++key) FillItem(key, "queue", 1, 1, request.add_items());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(2).size(), 2u);
  std::thread stop([this] { server_->Stop(); });
  std::vector<uint64_t> more = insert.ReadKeys(1);
  EXPECT_TRUE(more.empty()) << "an item that is not in the table was acknowledged";
  const auto code = insert.stream->Finish().error_code();
  EXPECT_TRUE(code == grpc::CANCELLED || code == grpc::UNAVAILABLE) << code;
  stop.join();
}

TEST_F(ServerTest, StreamsThatComeAndGoWhileTheServerStops) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (uint64_t n = 0;; ++n) {
        InsertCall insert(stub_.get());
        insert.stream->Write(OneItem(n * 4 + static_cast<uint64_t>(i), "t"));
        if (insert.ReadKeys(1).empty()) return;
        SampleCall sample(stub_.get());
        sample.stream->Write(Samples(3, i % 2 == 0 ? "t" : "queue"));
        if (i % 2 == 0 && sample.ReadKeys(3).size() < 3) return;
        sample.context.TryCancel();
      }
    });
  }
  WaitUntil([this] { return Info(table_).samples > 100; });
  server_->Stop();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ServerTest, WaitSaysWhyItReturns) {
  WaitOptions wait;
  wait.timeout = Duration::zero();
  EXPECT_EQ(server_->Wait(wait).code(), StatusCode::kDeadlineExceeded);
  wait.timeout = kInfiniteDuration;
  wait.interrupted = [] { return true; };
  EXPECT_EQ(server_->Wait(wait).code(), StatusCode::kCancelled);
  std::thread stop([this] { server_->Stop(); });
  EXPECT_TRUE(server_->Wait({}).ok());
  stop.join();
}

TEST_F(ServerTest, IsInTheLocalRegistryWhileItRuns) {
  const std::string address = "localhost:" + std::to_string(server_->port());
  const auto local = core::LocalRegistry::Global()->Find(address);
  ASSERT_NE(local, nullptr);
  EXPECT_EQ(local->Find("t"), table_->impl());
  server_->Stop();
  EXPECT_EQ(core::LocalRegistry::Global()->Find(address), nullptr);
}

TEST_F(ServerTest, AUsedPortIsAnErrorThatNamesIt) {
  ServerOptions options;
  options.tables = {MakeTable("other", 1)};
  options.port = server_->port();
  const Status status = Server::Start(options).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("[::]:" + std::to_string(options.port)), std::string::npos)
      << status.message();
  options.host = "127.0.0.1";
  EXPECT_EQ(Server::Start(options).status().code(), StatusCode::kUnavailable);
  // Free again after the stop.
  server_->Stop();
  EXPECT_TRUE(Server::Start(options).ok());
}

TEST(ServerOptionsTest, AreChecked) {
  const auto code = [](ServerOptions options) {
    return Server::Start(std::move(options)).status().code();
  };
  EXPECT_EQ(code({}), StatusCode::kInvalidArgument);
  ServerOptions options;
  options.tables = {MakeTable("twice", 1), MakeTable("single", 1), MakeTable("twice", 1)};
  const Status status = Server::Start(options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("twice"), std::string::npos);
  EXPECT_EQ(status.message().find("single"), std::string::npos);
  options.tables = {nullptr};
  EXPECT_EQ(code(options), StatusCode::kInvalidArgument);
  options.tables = {MakeTable("t", 1)};
  options.port = -1;
  EXPECT_EQ(code(options), StatusCode::kInvalidArgument);
  options.port = 65536;
  EXPECT_EQ(code(options), StatusCode::kInvalidArgument);
  options.port = 0;
  options.host = "no such host";
  EXPECT_EQ(code(options), StatusCode::kUnavailable);
  options.host = "127.0.0.1";
  EXPECT_TRUE(Server::Start(options).ok());
}

TEST(TableTest, RefusesASignatureThatNobodyCanRead) {
  TableOptions options;
  options.name = "t";
  options.max_size = 1;
  options.signature = "\xff";
  EXPECT_EQ(Table::Create(options).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace reverb_tf::server

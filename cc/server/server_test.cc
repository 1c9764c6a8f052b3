// The server over real gRPC on the loopback: options, unary calls, start and stop.
#include "reverb_tf/server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <limits>
#include <set>
#include <thread>

#include "cc/core/local_registry.h"
#include "cc/server/client_sockets.h"
#include "cc/server/loopback_port.h"
#include "cc/server/open_streams.h"
#include "cc/server/testing/server_fixture.h"
#include "cc/wire/server_stopped.h"

namespace reverb_tf::server {
namespace {

using testing::FillItem;
using testing::InsertCall;
using testing::MakeQueue;
using testing::MakeTable;
using testing::OneItem;
using testing::SampleCall;
using testing::Samples;
using testing::ServerTest;
using testing::WaitUntil;

void ExpectToldOfTheStop(const grpc::Status& status) {
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), wire::kServerStopped);
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
  EXPECT_EQ(sample.Finish().error_code(), grpc::CANCELLED);
  ExpectToldOfTheStop(idle.Finish());
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
  EXPECT_EQ(insert.stream->Finish().error_code(), grpc::CANCELLED);
  stop.join();
}

TEST_F(ServerTest, StopIsToldToEveryIdleStream) {
  ExpectHealthy();
  std::vector<std::unique_ptr<InsertCall>> inserts;
  std::vector<std::unique_ptr<SampleCall>> samples;
  for (uint64_t i = 0; i < 50; ++i) {
    inserts.push_back(std::make_unique<InsertCall>(stub_.get()));
    inserts.back()->stream->Write(OneItem(i));
    samples.push_back(std::make_unique<SampleCall>(stub_.get()));
    samples.back()->stream->Write(Samples(1));
  }
  for (const auto& insert : inserts) ASSERT_EQ(insert->ReadKeys(1).size(), 1u);
  for (const auto& sample : samples) ASSERT_EQ(sample->ReadKeys(1).size(), 1u);
  std::thread stop([this] { server_->Stop(); });
  for (const auto& insert : inserts) ExpectToldOfTheStop(insert->Finish());
  for (const auto& sample : samples) ExpectToldOfTheStop(sample->Finish());
  stop.join();
}

TEST_F(ServerTest, StopDoesNotWaitForAClientThatDoesNotRead) {
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1, "t", 1, 1 << 20));
  ASSERT_EQ(insert.ReadKeys(1).size(), 1u);
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(1000));
  WaitUntil([this] { return Info(table_).samples > 0; });
  server_->Stop();
  EXPECT_FALSE(sample.Finish().ok());
}

TEST(ClientSocketsTest, OnlyWhatWasAddedIsCutOff) {
  const auto is_cut_off = [](int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
  };
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  int other[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
  ClientSockets sockets;
  sockets.Add(pair[0]);
  sockets.Add(other[0]);
  // Another file takes the number of one that was closed.
  int later[2];
  close(other[0]);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, later), 0);
  ASSERT_EQ(later[0], other[0]);
  sockets.CutOff();
  EXPECT_TRUE(is_cut_off(pair[1]));
  EXPECT_FALSE(is_cut_off(later[1]));
  sockets.Add(later[0]);
  EXPECT_TRUE(is_cut_off(later[1]));
  for (const int socket : {pair[0], pair[1], other[1], later[0], later[1]}) close(socket);
}

TEST(OpenStreamsTest, ThoseThatBeginDuringTheStopEndAtOnce) {
  struct Stream : OpenStreams::Stream {
    void OnServerStops() override { ++told; }
    std::atomic<int> told{0};
  };
  OpenStreams streams;
  const auto before = std::make_shared<Stream>();
  const auto over = std::make_shared<Stream>();
  const auto after = std::make_shared<Stream>();
  auto gone = std::make_shared<Stream>();
  for (const auto& stream : {before, over, gone}) streams.Add(stream);
  streams.Remove(over.get());
  const OpenStreams::Stream* const gone_key = gone.get();
  gone.reset();
  std::thread end([&] { streams.EndAll(core::Clock::System()->Now() + std::chrono::minutes(1)); });
  WaitUntil([&] { return before->told == 1; });
  streams.Remove(before.get());
  streams.Remove(gone_key);
  end.join();
  EXPECT_EQ(over->told, 0);
  streams.Add(after);
  EXPECT_EQ(after->told, 1);
  EXPECT_EQ(before->told, 1);
  // Until the deadline, as this one does not go.
  streams.EndAll(core::Clock::System()->Now());
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

// errno of a try to bind the port on a loopback; 0: it was free.
template <typename Address>
int TryLoopback(int family, Address address) {
  const int socket = ::socket(family, SOCK_STREAM, 0);
  const bool bound = bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = bound ? 0 : errno;
  close(socket);
  return error;
}

TEST(LoopbackPortTest, IsHeldOnBothLoopbacksAndLeftToServers) {
  for (const std::string host : {"localhost", "127.0.0.1", "[::1]"}) {
    const LoopbackPort reserved(host);
    ASSERT_GT(reserved.port(), 0);
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v4.sin_port = htons(static_cast<uint16_t>(reserved.port()));
    EXPECT_EQ(TryLoopback(AF_INET, v4), EADDRINUSE);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    v6.sin6_port = v4.sin_port;
    // Not free, or there is no IPv6 here.
    EXPECT_NE(TryLoopback(AF_INET6, v6), 0);
    ServerOptions options;
    options.tables = {MakeTable("t", 1)};
    options.host = "localhost";
    options.port = reserved.port();
    EXPECT_EQ(Server::Start(std::move(options)).value()->port(), reserved.port());
  }
  EXPECT_EQ(LoopbackPort("[::]").port(), 0);
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

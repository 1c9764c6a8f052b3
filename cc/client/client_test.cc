// The whole client against a server, in process and over gRPC.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class ClientTest : public testing::TestWithParam<Path> {
 protected:
  void Start(const std::vector<TableOptions>& tables) {
    server_ = StartServer(tables);
    client_ = MakeClient(AddressOf(*server_), GetParam());
  }

  Result<std::vector<uint64_t>> Insert(int64_t value, const std::vector<TableAndPriority>& targets,
                                       const WaitOptions& wait = Soon()) {
    const auto array = Scalar(value);
    return client_->Insert(&array->view(), 1, targets, wait);
  }

  std::unique_ptr<Sampler> NewSampler(const std::string& table, int64_t max_samples = -1,
                                      int64_t in_flight = 1) {
    SamplerOptions options;
    options.table = table;
    options.max_samples = max_samples;
    options.max_in_flight_samples_per_worker = in_flight;
    return client_->NewSampler(options).value();
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Paths, ClientTest, testing::Values(Path::kLocal, Path::kGrpc), PathName);

TEST_P(ClientTest, InsertedStepIsSampled) {
  Start({UniformOptions("a"), UniformOptions("b")});
  const auto keys = Insert(7, {{"a", 1.5}, {"b", 2}});
  ASSERT_TRUE(keys.ok()) << keys.status().ToString();
  ASSERT_EQ(keys->size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const auto sample = NewSampler(i == 0 ? "a" : "b")->Next(Soon());
    ASSERT_TRUE(sample.ok()) << sample.status().ToString();
    EXPECT_EQ(sample->info().key, (*keys)[i]);
    EXPECT_EQ(sample->info().priority, i == 0 ? 1.5 : 2);
    EXPECT_EQ(sample->info().table_size, 1);
    EXPECT_EQ(sample->info().times_sampled, 1);
    ASSERT_EQ(sample->num_columns(), 1);
    EXPECT_EQ(sample->column(0).rank, 1);
    EXPECT_EQ(sample->column(0).num_rows, 1);
    EXPECT_THAT(ReadInts(*sample), ElementsAre(7));
  }
}

TEST_P(ClientTest, InsertRefusesWhatItCanKnow) {
  Start({UniformOptions("a")});
  EXPECT_EQ(Insert(1, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Insert(1, {{"a", std::numeric_limits<double>::quiet_NaN()}}).status().code(),
            StatusCode::kInvalidArgument);
  const Status unknown = Insert(1, {{"nope", 1}}).status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.message(), HasSubstr("'nope'"));
  EXPECT_THAT(unknown.message(), HasSubstr("'a'"));
}

// One of many threads inserts only what table p refuses.
void CheckBadPriorities(Client* client) {
  constexpr int kThreads = 8;
  constexpr int kEach = 20;
  std::atomic<int> refused{0};
  std::atomic<int> inserted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const bool bad = t == 0;
        const auto array = Scalar(t * kEach + i);
        const auto keys = client->Insert(&array->view(), 1, {{"p", bad ? -1.0 : 1.0}}, Soon());
        (keys.ok() ? inserted : refused)++;
        if (bad) {
          EXPECT_EQ(keys.status().code(), StatusCode::kInvalidArgument);
        } else {
          EXPECT_TRUE(keys.ok()) << keys.status().ToString();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, kEach);
  EXPECT_EQ(inserted, (kThreads - 1) * kEach);
}

TEST_P(ClientTest, BadPriorityIsRefusedToItsSenderAlone) {
  Start({PrioritizedOptions("p")});
  CheckBadPriorities(client_.get());
}

TEST_P(ClientTest, BadPriorityThatOnlyTheServerKnowsIsRefusedToItsSenderAlone) {
  Start({UniformOptions("p")});
  ASSERT_TRUE(Insert(0, {{"p", -1}}).ok());  // the client remembers what the table was like
  const int port = server_->port();
  server_.reset();
  server_ = StartServer({PrioritizedOptions("p")}, port);
  CheckBadPriorities(client_.get());
}

TEST_P(ClientTest, MutateAndReset) {
  Start({UniformOptions("a")});
  const std::vector<uint64_t> keys = {Insert(1, {{"a", 1}}).value()[0],
                                      Insert(2, {{"a", 1}}).value()[0]};
  const KeyWithPriority update = {keys[0], 5};
  EXPECT_TRUE(client_->MutatePriorities("a", &update, 1, &keys[1], 1, Soon()).ok());
  const auto sample = NewSampler("a")->Next(Soon());
  EXPECT_EQ(sample->info().priority, 5);
  EXPECT_EQ(sample->info().table_size, 1);
  const Status unknown = client_->MutatePriorities("x", &update, 1, nullptr, 0, Soon());
  EXPECT_EQ(unknown.code(), StatusCode::kNotFound);
  EXPECT_THAT(unknown.message(), HasSubstr("Priority table x was not found"));
  EXPECT_TRUE(client_->Reset("a", Soon()).ok());
  EXPECT_EQ(client_->Reset("x", Soon()).code(), StatusCode::kNotFound);
  EXPECT_EQ(NewSampler("a")->Next(Within(Duration::zero())).status().code(),
            StatusCode::kDeadlineExceeded);
}

TEST_P(ClientTest, CheckpointOfAServerWithoutCheckpointer) {
  Start({UniformOptions("a")});
  const Status status = client_->Checkpoint(Soon()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("no checkpointer"));
}

TEST_P(ClientTest, ServerInfoAndSignatures) {
  Start({UniformOptions("a"), UniformOptions("b")});
  const auto info = client_->GetServerInfo(Soon());
  ASSERT_TRUE(info.ok()) << info.status().ToString();
  EXPECT_EQ(info->tables.size(), 2u);
  EXPECT_FALSE(client_->GetSignature("a", Soon()).value().has_signature);
  EXPECT_EQ(client_->GetSignature("c", Soon()).status().code(), StatusCode::kNotFound);
}

TEST_P(ClientTest, BlockedInsertTimesOutAndSaysWhy) {
  Start({QueueOptions("q", 1)});
  ASSERT_TRUE(Insert(1, {{"q", 1}}).ok());
  const Status status = Insert(2, {{"q", 1}}, Within(milliseconds(400))).status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("Timeout exceeded"));
  EXPECT_THAT(status.message(), HasSubstr("'q'"));
  EXPECT_THAT(status.message(), HasSubstr("1 of at most 1 items"));
}

TEST_P(ClientTest, BlockedTableDoesNotBlockInsertsIntoAnother) {
  Start({QueueOptions("full", 1), UniformOptions("free")});
  ASSERT_TRUE(Insert(1, {{"full", 1}}).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Insert(2, {{"full", 1}}, Within(milliseconds(1))).ok());
  }
  EXPECT_TRUE(Insert(3, {{"free", 1}}).ok());
}

TEST_P(ClientTest, InterruptedCallReturns) {
  Start({UniformOptions("a")});
  WaitOptions wait;
  int calls = 0;
  wait.interrupted = [&calls] { return ++calls >= 2; };
  const auto sampler = NewSampler("a");
  EXPECT_EQ(sampler->Next(wait).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(calls, 2);
  // The sampler goes on.
  ASSERT_TRUE(Insert(4, {{"a", 1}}).ok());
  EXPECT_TRUE(sampler->Next(Soon()).ok());
}

TEST_P(ClientTest, RateLimiterTimeoutOfZeroAnswersAtOnceAndDeliversWhatIsThere) {
  Start({UniformOptions("a")});
  SamplerOptions options;
  options.table = "a";
  options.rate_limiter_timeout = Duration::zero();
  const Status empty = client_->NewSampler(options).value()->Next(Soon()).status();
  EXPECT_TRUE(IsRateLimiterTimeout(empty)) << empty.ToString();
  ASSERT_TRUE(Insert(1, {{"a", 1}}).ok());
  EXPECT_TRUE(client_->NewSampler(options).value()->Next(Soon()).ok());
}

TEST_P(ClientTest, RateLimiterTimeoutComesAfterTheSamples) {
  Start({QueueOptions("q", 10)});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Insert(i, {{"q", 1}}).ok());
  SamplerOptions options;
  options.table = "q";
  options.rate_limiter_timeout = milliseconds(50);
  const auto sampler = client_->NewSampler(options).value();
  for (int i = 0; i < 3; ++i) {
    const auto sample = sampler->Next(Soon());
    ASSERT_TRUE(sample.ok()) << sample.status().ToString();
    EXPECT_THAT(ReadInts(*sample), ElementsAre(i));
  }
  EXPECT_TRUE(IsRateLimiterTimeout(sampler->Next(Soon()).status()));
}

TEST_P(ClientTest, UnknownTableEndsTheSampler) {
  Start({UniformOptions("a")});
  const Status status = NewSampler("x")->Next(Soon()).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("Priority table x was not found"));
}

TEST_P(ClientTest, ExactlyMaxSamplesAreTaken) {
  for (const int64_t workers : {1, 3}) {
    for (const int64_t in_flight : {1, 5}) {
      Start({QueueOptions("q", 30)});
      for (int i = 0; i < 20; ++i) ASSERT_TRUE(Insert(i, {{"q", 1}}).ok());
      SamplerOptions options;
      options.table = "q";
      options.max_samples = 12;
      options.num_workers = workers;
      options.max_in_flight_samples_per_worker = in_flight;
      options.max_samples_per_stream = 4;
      const auto sampler = client_->NewSampler(options).value();
      std::set<int64_t> seen;
      for (int i = 0; i < 12; ++i) {
        const auto sample = sampler->Next(Soon());
        ASSERT_TRUE(sample.ok()) << sample.status().ToString();
        seen.insert(ReadInts(*sample)[0]);
      }
      EXPECT_EQ(seen.size(), 12u);
      EXPECT_EQ(sampler->Next(Soon()).status().code(), StatusCode::kOutOfRange);
      const auto left = NewSampler("q", 8, 8);
      for (int i = 0; i < 8; ++i) EXPECT_TRUE(left->Next(Soon()).ok());
      EXPECT_EQ(NewSampler("q")->Next(Within(milliseconds(1))).status().code(),
                StatusCode::kDeadlineExceeded);
    }
  }
}

TEST_P(ClientTest, CloseUnblocks) {
  Start({UniformOptions("a")});
  const auto sampler = NewSampler("a");
  std::thread closer([&] { sampler->Close(); });
  EXPECT_EQ(sampler->Next(Soon()).status().code(), StatusCode::kCancelled);
  closer.join();
  EXPECT_EQ(sampler->Next(Soon()).status().code(), StatusCode::kCancelled);
}

TEST_P(ClientTest, AsyncCallsComeBack) {
  Start({UniformOptions("a")});
  std::mutex mu;
  std::condition_variable changed;
  int done = 0;
  const auto sampler = NewSampler("a", -1, 3);
  for (int i = 0; i < 5; ++i) {
    sampler->NextAsync([&](Result<Sample> sample) {
      EXPECT_TRUE(sample.ok()) << sample.status().ToString();
      std::lock_guard<std::mutex> lock(mu);
      ++done;
      changed.notify_all();
    });
  }
  const auto array = Scalar(3);
  client_->InsertAsync(&array->view(), 1, {{"a", 1}}, nullptr,
                       [&](Result<std::vector<uint64_t>> keys) {
                         EXPECT_TRUE(keys.ok()) << keys.status().ToString();
                         std::lock_guard<std::mutex> lock(mu);
                         ++done;
                         changed.notify_all();
                       });
  std::unique_lock<std::mutex> lock(mu);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return done == 6; }));
}

TEST_P(ClientTest, CancelledInsertComesBack) {
  Start({QueueOptions("q", 1)});
  ASSERT_TRUE(Insert(1, {{"q", 1}}).ok());
  Status status;
  const auto array = Scalar(3);
  const auto cancel =
      client_->InsertAsync(&array->view(), 1, {{"q", 1}}, nullptr,
                           [&](Result<std::vector<uint64_t>> keys) { status = keys.status(); });
  cancel();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST_P(ClientTest, OnDemandSamplerTakesNothingAhead) {
  Start({QueueOptions("q", 10)});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Insert(i, {{"q", 1}}).ok());
  SamplerOptions options;
  options.table = "q";
  options.on_demand = true;
  const auto sampler = client_->NewSampler(options).value();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(ReadInts(sampler->Next(Soon()).value()), ElementsAre(i));
  }
  EXPECT_THAT(ReadInts(NewSampler("q")->Next(Soon()).value()), ElementsAre(2));
}

TEST_P(ClientTest, StoppedServerUnblocksCallers) {
  Start({QueueOptions("q", 1)});
  client_ = MakeClient(AddressOf(*server_), GetParam(), milliseconds(200));
  const auto sampler = NewSampler("q");
  Status sampled;
  std::thread thread([&] { sampled = sampler->Next(Soon()).status(); });
  server_->Stop();
  thread.join();
  EXPECT_TRUE(sampled.code() == StatusCode::kCancelled ||
              sampled.code() == StatusCode::kUnavailable)
      << sampled.ToString();
  const Status info = client_->GetServerInfo(Soon()).status();
  if (GetParam() == Path::kGrpc) {
    EXPECT_EQ(info.code(), StatusCode::kUnavailable);
    EXPECT_THAT(info.message(), HasSubstr(client_->address()));
  }
}

// With await_local_successor a server of this process is no different from others.
TEST_P(ClientTest, SuccessorIsWaitedFor) {
  for (const bool comes_back : {true, false}) {
    Start({QueueOptions("q", 1)});
    const int port = server_->port();
    ClientOptions options;
    options.await_local_successor = true;
    options.stop_patience = comes_back ? std::chrono::seconds(30) : milliseconds(50);
    client_ = MakeClient(AddressOf(*server_), GetParam(), options);
    std::promise<Status> sampled;
    const auto sampler = NewSampler("q");
    sampler->NextAsync([&](Result<Sample> sample) { sampled.set_value(sample.status()); });
    ASSERT_TRUE(client_->GetServerInfo(Soon()).ok());
    server_->Stop();
    std::optional<DeadPort> dead;
    if (comes_back) {
      server_ = StartServer({QueueOptions("q", 1)}, port);
      ASSERT_TRUE(Insert(7, {{"q", 1}}).ok());
    } else {
      dead.emplace(port);
    }
    const Status status = sampled.get_future().get();
    EXPECT_EQ(status.code(), comes_back ? StatusCode::kOk : StatusCode::kUnavailable);
    if (comes_back) continue;
    EXPECT_THAT(status.message(), HasSubstr(client_->address() + " was stopped and cannot be"));
  }
}

TEST_P(ClientTest, WriterGoesOnAfterRestart) {
  Start({UniformOptions("a")});
  const int port = server_->port();
  TrajectoryWriterOptions options;
  options.chunker.num_keep_alive_refs = 3;
  options.chunker.max_chunk_length = 1;
  auto writer = client_->NewTrajectoryWriter(options, Soon()).value();
  const auto write = [&](int64_t value) {
    const auto array = Scalar(value);
    StepRef ref;
    ASSERT_TRUE(writer->Append(&array->view(), 1, false, &ref).ok());
    const int64_t rows = std::min<int64_t>(value + 1, 3);
    const auto key = writer->CreateItem("a", 1, {{{{0, ref.row - rows + 1, rows}}, false}}, Soon());
    ASSERT_TRUE(key.ok()) << key.status().ToString();
  };
  write(0);
  write(1);
  ASSERT_TRUE(writer->Flush(0, Soon()).ok());
  server_->Stop();
  server_ = StartServer({UniformOptions("a")}, port);
  write(2);
  write(3);
  const Status flushed = writer->Flush(0, Soon());
  ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  SamplerOptions sampler;
  sampler.table = "a";
  std::set<std::vector<int64_t>> seen;
  const auto samples = client_->NewSampler(sampler).value();
  while (seen.size() < 2) seen.insert(ReadInts(samples->Next(Soon()).value()));
  EXPECT_EQ(seen, (std::set<std::vector<int64_t>>{{0, 1, 2}, {1, 2, 3}}));
}

TEST(ClientUnreachableTest, ErrorsNameTheAddressAndTheCause) {
  const DeadPort dead(0);
  const std::string address = "localhost:" + std::to_string(dead.port());
  const auto client = MakeClient(address, Path::kLocal, milliseconds(300));
  SamplerOptions options;
  options.table = "a";
  const std::vector<Status> statuses = {
      client->GetServerInfo({}).status(),
      client->Reset("a", {}),
      client->NewTrajectoryWriter({}, {}).status(),
      client->NewSampler(options).value()->Next({}).status(),
  };
  for (const Status& status : statuses) {
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(address));
    EXPECT_THAT(status.message(), HasSubstr("onnect"));
  }
  const Status timeout = client->GetServerInfo(Within(milliseconds(100))).status();
  EXPECT_EQ(timeout.code(), StatusCode::kDeadlineExceeded) << timeout.ToString();
  EXPECT_THAT(timeout.message(), HasSubstr("Deadline Exceeded"));
  EXPECT_THAT(timeout.message(), HasSubstr(address));
}

}  // namespace
}  // namespace reverb_tf::client

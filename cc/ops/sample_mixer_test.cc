#include "cc/ops/sample_mixer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "reverb_tf/client.h"
#include "reverb_tf/server.h"

namespace reverb_tf::ops {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Status LimiterTimeout() {
  return DeadlineExceededError(
      "Rate Limiter: Timeout exceeded before the right to insert was acquired.");
}

// Makes samples, which are known by their priorities.
class Samples {
 public:
  Samples() {
    TableOptions queue;
    queue.name = "queue";
    queue.sampler.kind = queue.remover.kind = SelectorOptions::Kind::kFifo;
    queue.max_size = 1'000'000;
    queue.max_times_sampled = 1;
    ServerOptions options;
    options.host = "127.0.0.1";
    options.tables.push_back(Table::Create(queue).value());
    server_ = Server::Start(options).value();
    client_ = Client::Create("127.0.0.1:" + std::to_string(server_->port()));
  }

  // As if received at the beginning of time.
  Sample Old(uint64_t number) {
    const uint64_t key = Insert(number);
    return std::move(client_->Get("queue", &key, 1, WaitOptions()).value()[0]);
  }
  // Received now.
  Sample New(uint64_t number) {
    client_->Reset("queue", WaitOptions()).IgnoreError();
    Insert(number);
    SamplerOptions options;
    options.table = "queue";
    options.max_samples = 1;
    return client_->NewSampler(options).value()->Next(WaitOptions()).value();
  }

  // Never destroyed, so that samples may outlive every test.
  static Samples& Get() {
    static Samples* const samples = new Samples;
    return *samples;
  }

 private:
  uint64_t Insert(uint64_t number) {
    const float value = 0;
    TensorView view;
    view.dtype = DType::kFloat32;
    view.data = &value;
    return client_->Insert(&view, 1, {{"queue", static_cast<double>(number)}}, WaitOptions())
        .value()[0];
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
};

uint64_t NumberOf(const Sample& sample) { return static_cast<uint64_t>(sample.info().priority); }

// A server in the test's hand: what its samplers return is put there one by one. Thread-safe.
class FakeServer {
 public:
  // Samples wait for callers; callers wait for samples.
  void Give(uint64_t number) { Give(Samples::Get().Old(number)); }
  void Give(Result<Sample> sample) {
    Sampler::Callback callback;
    {
      std::lock_guard<std::mutex> lock(mu_);
      if (callers_.empty()) {
        results_.push_back(std::move(sample));
        return;
      }
      callback = std::move(callers_.front());
      callers_.pop_front();
    }
    callback(std::move(sample));
  }
  void Call(Sampler::Callback callback) {
    std::optional<Result<Sample>> result;
    {
      std::lock_guard<std::mutex> lock(mu_);
      if (results_.empty()) {
        callers_.push_back(std::move(callback));
        return;
      }
      result.emplace(std::move(results_.front()));
      results_.pop_front();
    }
    callback(std::move(*result));
  }
  std::vector<Sample> Take(int64_t n) {
    std::lock_guard<std::mutex> lock(mu_);
    std::vector<Sample> samples;
    while (static_cast<int64_t>(samples.size()) < n && !results_.empty() && results_[0].ok()) {
      samples.push_back(std::move(results_.front()).value());
      results_.pop_front();
    }
    taken.push_back(samples.size());
    return samples;
  }
  void EndCalls(const Status& why) {
    std::deque<Sampler::Callback> callers;
    {
      std::lock_guard<std::mutex> lock(mu_);
      callers.swap(callers_);
    }
    for (Sampler::Callback& callback : callers) callback(why);
  }
  int64_t num_callers() {
    std::lock_guard<std::mutex> lock(mu_);
    return static_cast<int64_t>(callers_.size());
  }

  SampleMixer::Server AsServer(const std::string& address);

  std::vector<int64_t> budgets;  // of the samplers that were made
  std::vector<size_t> taken;     // by calls of Take
  std::atomic<int> alive{0};

 private:
  std::mutex mu_;
  std::deque<Result<Sample>> results_;     // guarded by mu_
  std::deque<Sampler::Callback> callers_;  // guarded by mu_
};

class FakeSampler : public Sampler {
 public:
  explicit FakeSampler(FakeServer* server) : server_(server) { ++server_->alive; }
  ~FakeSampler() override {
    Close();
    --server_->alive;
  }
  Result<Sample> Next(const WaitOptions& wait) override { return InternalError("not used"); }
  void NextAsync(int64_t n, Callback callback) override {
    for (int64_t i = 0; i < n; ++i) server_->Call(callback);
  }
  std::vector<Sample> Take(int64_t n) override { return server_->Take(n); }
  void Close() override { server_->EndCalls(CancelledError("The sampler is closed.")); }

 private:
  FakeServer* const server_;
};

SampleMixer::Server FakeServer::AsServer(const std::string& address) {
  return {address, [this](int64_t max_samples) -> Result<std::unique_ptr<Sampler>> {
            budgets.push_back(max_samples);
            return std::unique_ptr<Sampler>(new FakeSampler(this));
          }};
}

class SampleMixerTest : public ::testing::Test {
 protected:
  SampleMixerTest() {
    options_.first_pause = milliseconds(1);
    options_.longest_pause = milliseconds(4);
    options_.idle_pause = milliseconds(1);
  }

  void Start(int num_servers) {
    std::vector<SampleMixer::Server> servers;
    const char* const names[] = {"a:1", "b:2", "c:3"};
    for (int i = 0; i < num_servers; ++i) servers.push_back(servers_[i].AsServer(names[i]));
    mixer_ = std::make_unique<SampleMixer>(servers, options_, [this](const std::string& line) {
      std::lock_guard<std::mutex> lock(mu_);
      reports_.push_back(line);
    });
  }

  // The number of the next sample; 0 at the end, errors fail the test.
  uint64_t NextKey(int64_t wanted = 1) {
    Result<std::optional<SampleMixer::Mixed>> next = mixer_->Next(wanted);
    EXPECT_TRUE(next.ok()) << next.status().ToString();
    return next.ok() && next->has_value() ? NumberOf((**next).sample) : 0;
  }
  std::vector<uint64_t> NextKeys(int n) {
    std::vector<uint64_t> keys;
    for (int i = 0; i < n; ++i) keys.push_back(NextKey());
    return keys;
  }
  Status NextError() { return mixer_->Next(1).status(); }

  std::vector<std::string> reports() {
    std::lock_guard<std::mutex> lock(mu_);
    return reports_;
  }

  SampleMixerOptions options_;
  FakeServer servers_[3];
  std::mutex mu_;
  std::vector<std::string> reports_;  // guarded by mu_
  std::unique_ptr<SampleMixer> mixer_;
};

TEST_F(SampleMixerTest, SamplesOfOneServerComeInOrder) {
  Start(1);
  for (uint64_t key = 1; key <= 5; ++key) servers_[0].Give(key);
  EXPECT_THAT(NextKeys(5), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(servers_[0].budgets, ElementsAre(-1));
}

TEST_F(SampleMixerTest, WhatIsThereIsTakenAtOnce) {
  Start(1);
  for (uint64_t key = 1; key <= 6; ++key) servers_[0].Give(key);
  EXPECT_EQ(NextKey(4), 1u);  // makes the sampler
  EXPECT_EQ(NextKey(3), 2u);
  EXPECT_EQ(NextKey(2), 3u);
  EXPECT_EQ(NextKey(1), 4u);
  EXPECT_THAT(servers_[0].taken, ElementsAre(3));
  EXPECT_EQ(NextKey(3), 5u);
  EXPECT_EQ(NextKey(2), 6u);
  std::thread thread([this] {
    while (servers_[0].num_callers() == 0) std::this_thread::yield();
    servers_[0].Give(7);
    servers_[0].Give(UnavailableError("gone"));
  });
  EXPECT_EQ(NextKey(3), 7u);
  thread.join();
  EXPECT_EQ(mixer_->Next(2).status().message(), "gone");
  EXPECT_THAT(servers_[0].taken, ElementsAre(3, 2, 0, 0));
}

TEST_F(SampleMixerTest, OfSeveralServersNothingIsTakenAhead) {
  Start(2);
  for (uint64_t i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) servers_[i].Give(10 * i + 1);
  }
  for (const uint64_t key : {1, 11, 1, 11}) EXPECT_EQ(NextKey(5), key);
  EXPECT_TRUE(servers_[0].taken.empty());
}

TEST_F(SampleMixerTest, NothingIsAskedOfASamplerAheadOfItsCaller) {
  Start(1);
  EXPECT_TRUE(servers_[0].budgets.empty());
  servers_[0].Give(1);
  EXPECT_EQ(NextKey(), 1u);
  EXPECT_EQ(servers_[0].num_callers(), 0);
}

TEST_F(SampleMixerTest, ServersThatHaveSamplesTakeTurns) {
  Start(3);
  for (uint64_t i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) servers_[i].Give(10 * i + 1);
  }
  EXPECT_THAT(NextKeys(9), ElementsAre(1, 11, 21, 1, 11, 21, 1, 11, 21));
}

TEST_F(SampleMixerTest, AServerWithoutSamplesHoldsNobodyUp) {
  Start(2);
  for (uint64_t key = 1; key <= 4; ++key) servers_[1].Give(key);
  EXPECT_THAT(NextKeys(4), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(servers_[0].num_callers(), 1);
  servers_[0].Give(7);
  EXPECT_EQ(NextKey(), 7u);
}

TEST_F(SampleMixerTest, ABlockedCallerGetsTheFirstThatComes) {
  Start(2);
  std::thread thread([this] {
    while (servers_[0].num_callers() + servers_[1].num_callers() < 2) std::this_thread::yield();
    servers_[1].Give(5);
  });
  EXPECT_EQ(NextKey(), 5u);
  thread.join();
}

TEST_F(SampleMixerTest, EveryCallerThatWaitsAsksForItself) {
  Start(1);
  std::vector<std::thread> threads;
  std::mutex mu;
  std::set<uint64_t> keys;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const uint64_t key = NextKey();
      std::lock_guard<std::mutex> lock(mu);
      keys.insert(key);
    });
  }
  for (uint64_t key = 1; key <= 4; ++key) {
    while (servers_[0].num_callers() == 0) std::this_thread::yield();
    servers_[0].Give(key);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(keys.size(), 4u);
}

TEST_F(SampleMixerTest, OnDemandAsksForAllThatIsWanted) {
  options_.on_demand = true;
  Start(1);
  std::thread thread([this] {
    while (servers_[0].num_callers() < 3) std::this_thread::yield();
    for (uint64_t key = 1; key <= 3; ++key) servers_[0].Give(key);
  });
  EXPECT_EQ(NextKey(3), 1u);
  thread.join();
  EXPECT_EQ(NextKey(2), 2u);
  EXPECT_EQ(NextKey(1), 3u);
  EXPECT_EQ(servers_[0].num_callers(), 0);
}

TEST_F(SampleMixerTest, TheStreamEndsAfterMaxSamples) {
  options_.max_samples = 2;
  Start(2);
  for (uint64_t key = 1; key <= 3; ++key) servers_[0].Give(key);
  EXPECT_EQ(NextKeys(2).size(), 2u);
  EXPECT_EQ(NextKey(), 0u);
  EXPECT_EQ(NextKey(), 0u);
  EXPECT_THAT(servers_[0].budgets, ElementsAre(2));
}

TEST_F(SampleMixerTest, TheEndWakesAllWhoWait) {
  options_.max_samples = 1;
  for (int round = 0; round < 20; ++round) {
    Start(1);
    std::atomic<int> calls{0};
    std::atomic<uint64_t> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&] {
        ++calls;
        sum += NextKey();
      });
    }
    while (calls < 5 || servers_[0].num_callers() == 0) std::this_thread::yield();
    servers_[0].Give(7);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, 7u);
  }
}

TEST_F(SampleMixerTest, NoSamplesAtAll) {
  options_.max_samples = 0;
  Start(1);
  EXPECT_EQ(NextKey(), 0u);
  EXPECT_TRUE(servers_[0].budgets.empty());
}

TEST_F(SampleMixerTest, OldSamplesAreDroppedAndDoNotCount) {
  options_.max_samples = 2;
  options_.max_age = seconds(100);
  Start(1);
  servers_[0].Give(Samples::Get().Old(1));
  servers_[0].Give(Samples::Get().New(2));
  servers_[0].Give(OutOfRangeError("The sampler has returned max_samples = 2 samples."));
  servers_[0].Give(Samples::Get().New(3));
  EXPECT_THAT(NextKeys(3), ElementsAre(2, 3, 0));
  // The second sampler makes up for what was dropped.
  EXPECT_THAT(servers_[0].budgets, ElementsAre(2, 1));
}

TEST_F(SampleMixerTest, ErrorsOfASingleServerAreTheStreams) {
  for (const Status& error :
       {UnavailableError("Server a:1 cannot be reached"), NotFoundError("no table"),
        CancelledError("The server is stopping.")}) {
    Start(1);
    servers_[0].Give(error);
    EXPECT_EQ(NextError().ToString(), error.ToString());
    EXPECT_EQ(NextError().ToString(), error.ToString());
    mixer_.reset();
  }
  EXPECT_TRUE(reports_.empty());
}

TEST_F(SampleMixerTest, AnErrorThatIsNotOfTheConnectionNamesTheServer) {
  Start(2);
  servers_[1].Give(NotFoundError("no table"));
  EXPECT_THAT(NextError().ToString(), HasSubstr("NOT_FOUND: Server b:2: no table"));
}

TEST_F(SampleMixerTest, ALostServerIsReportedAndTriedAgain) {
  Start(2);
  servers_[0].Give(UnavailableError("refused."));
  servers_[1].Give(1);
  EXPECT_EQ(NextKey(), 1u);
  EXPECT_THAT(reports(), ElementsAre("Server a:1 gives no samples: refused. It is tried again; of "
                                     "the other servers 1 go on."));
  // It goes on to be lost, which is not said again, and then is back.
  for (int i = 0; i < 3; ++i) servers_[0].Give(CancelledError("The server is stopping."));
  servers_[0].Give(2);
  EXPECT_EQ(NextKey(), 2u);
  EXPECT_EQ(servers_[0].budgets.size(), 5u);
  const std::vector<std::string> lines = reports();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], HasSubstr("Server a:1 gives samples again"));
}

TEST_F(SampleMixerTest, AServerThatStaysLostIsReportedAgain) {
  options_.report_every = milliseconds(0);
  Start(2);
  for (int i = 0; i < 3; ++i) servers_[0].Give(UnavailableError("refused."));
  servers_[0].Give(2);
  EXPECT_EQ(NextKey(), 2u);
  const std::vector<std::string> lines = reports();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[2], HasSubstr("Server a:1 gives no samples since 0 s: refused."));
}

TEST_F(SampleMixerTest, WhenNoneCanBeReachedTheErrorNamesAll) {
  options_.patience = milliseconds(5);
  Start(2);
  for (int i = 0; i < 1000; ++i) {
    servers_[0].Give(UnavailableError("refused"));
    servers_[1].Give(UnavailableError("no route"));
  }
  const Status error = NextError();
  EXPECT_EQ(error.code(), StatusCode::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("None of the servers can be reached"));
  EXPECT_THAT(error.message(), HasSubstr("a:1: refused; b:2: no route"));
  EXPECT_EQ(NextError().ToString(), error.ToString());
}

TEST_F(SampleMixerTest, ALostServerThatSettlesCountsAsReached) {
  options_.patience = milliseconds(1);
  options_.settled_after = milliseconds(0);
  Start(2);
  servers_[0].Give(UnavailableError("refused"));
  servers_[1].Give(UnavailableError("refused"));
  std::thread thread([this] {
    // Both are tried again, and do not fail.
    while (servers_[0].num_callers() + servers_[1].num_callers() < 2) std::this_thread::yield();
    const auto patience_is_over = SampleMixer::Clock::now() + milliseconds(30);
    while (SampleMixer::Clock::now() < patience_is_over) std::this_thread::yield();
    servers_[1].Give(3);
  });
  EXPECT_EQ(NextKey(), 3u);
  thread.join();
}

TEST_F(SampleMixerTest, ALimiterTimeoutIsAnErrorUnlessItIsTheEnd) {
  Start(2);
  servers_[0].Give(LimiterTimeout());
  EXPECT_EQ(NextError().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SampleMixerTest, TheTimeoutOfASingleServerIsTheEnd) {
  options_.ends_on_timeout = true;
  Start(1);
  servers_[0].Give(1);
  servers_[0].Give(LimiterTimeout());
  servers_[0].Give(2);
  EXPECT_THAT(NextKeys(3), ElementsAre(1, 0, 0));
}

TEST_F(SampleMixerTest, TheStreamEndsWhenAllTimeOut) {
  options_.ends_on_timeout = true;
  Start(2);
  servers_[0].Give(LimiterTimeout());
  servers_[1].Give(1);
  EXPECT_EQ(NextKey(), 1u);
  // The first is asked again before the end, and has something by now.
  servers_[1].Give(LimiterTimeout());
  servers_[0].Give(2);
  servers_[0].Give(LimiterTimeout());
  servers_[1].Give(LimiterTimeout());
  EXPECT_EQ(NextKey(), 2u);
  EXPECT_EQ(NextKey(), 0u);
  EXPECT_EQ(NextKey(), 0u);
}

TEST_F(SampleMixerTest, ALostServerDoesNotKeepTheStreamFromEnding) {
  options_.ends_on_timeout = true;
  options_.first_pause = options_.longest_pause = seconds(100);
  Start(2);
  servers_[0].Give(UnavailableError("refused"));
  servers_[1].Give(LimiterTimeout());
  EXPECT_EQ(NextKey(), 0u);
}

TEST_F(SampleMixerTest, CloseEndsBlockedCalls) {
  Start(2);
  std::thread thread([this] {
    while (servers_[0].num_callers() + servers_[1].num_callers() < 2) std::this_thread::yield();
    mixer_->Close();
  });
  EXPECT_EQ(NextError().code(), StatusCode::kCancelled);
  thread.join();
  EXPECT_EQ(NextError().code(), StatusCode::kCancelled);
  EXPECT_EQ(servers_[0].alive + servers_[1].alive, 0);
  mixer_->Close();
}

TEST_F(SampleMixerTest, SamplersGoWithTheMixer) {
  Start(2);
  servers_[0].Give(1);
  NextKey();
  EXPECT_GT(servers_[0].alive, 0);
  mixer_.reset();
  EXPECT_EQ(servers_[0].alive + servers_[1].alive, 0);
}

TEST_F(SampleMixerTest, ASamplerThatCannotBeMadeIsAnError) {
  mixer_ = std::make_unique<SampleMixer>(
      std::vector<SampleMixer::Server>{{"a:1",
                                        [](int64_t) -> Result<std::unique_ptr<Sampler>> {
                                          return InvalidArgumentError("table must not be empty");
                                        }}},
      options_, [](const std::string&) {});
  EXPECT_EQ(NextError().message(), "table must not be empty");
}

}  // namespace
}  // namespace reverb_tf::ops

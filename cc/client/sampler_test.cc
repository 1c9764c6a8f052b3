#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cc/client/log.h"
#include "cc/client/sampler_core.h"
#include "cc/client/sampler_options.h"
#include "cc/client/testing/fake_transport.h"
#include "cc/client/testing/test_data.h"
#include "cc/core/testing/fake_clock.h"
#include "cc/core/testing/test_items.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTimeoutText[] =
    "Rate Limiter: Timeout exceeded before the right to insert was acquired.";

class SamplerTest : public testing::Test {
 protected:
  void Start(SamplerOptions options) {
    ClientOptions client_options;
    client_options.patience = seconds(10);
    transport_ = std::make_shared<FakeTransport>();
    endpoint_ = std::make_shared<Endpoint>("fake:1", client_options, &clock_, [this] {
      return Result<std::shared_ptr<Transport>>(transport_);
    });
    options.table = "t";
    sampler_ = std::make_shared<SamplerCore>(endpoint_, options);
  }

  static SamplerOptions Options(int64_t max_samples, int64_t in_flight, int64_t workers = 1) {
    SamplerOptions options;
    options.max_samples = max_samples;
    options.max_in_flight_samples_per_worker = in_flight;
    options.num_workers = workers;
    return options;
  }

  std::vector<core::SampledItem> Items(int64_t n) {
    std::vector<core::SampledItem> items(n);
    for (core::SampledItem& item : items) {
      item.key = ++last_key_;
      item.trajectory = core::MakeTestItem(item.key).trajectory;
    }
    return items;
  }

  Status TryNext() { return sampler_->Next(Within(Duration::zero())).status(); }

  static std::vector<int64_t> Asked(const FakeTransport::FakeSampleStream& stream) {
    std::vector<int64_t> asked;
    for (const auto& request : stream.requests) asked.push_back(request.n);
    return asked;
  }

  core::FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_;
  std::shared_ptr<Endpoint> endpoint_;
  std::shared_ptr<SamplerCore> sampler_;
  uint64_t last_key_ = 0;
};

TEST_F(SamplerTest, OptionsAreChecked) {
  const auto check = [](auto change) {
    SamplerOptions options;
    change(&options);
    return CheckSamplerOptions(options);
  };
  EXPECT_TRUE(check([](SamplerOptions*) {}).ok());
  EXPECT_THAT(check([](SamplerOptions* o) { o->max_samples = 0; }).message(),
              HasSubstr("max_samples must be at least 1, or -1, but is 0"));
  EXPECT_FALSE(check([](SamplerOptions* o) { o->num_workers = -2; }).ok());
  EXPECT_FALSE(check([](SamplerOptions* o) { o->max_samples_per_stream = 0; }).ok());
  EXPECT_THAT(check([](SamplerOptions* o) { o->max_in_flight_samples_per_worker = -1; }).message(),
              HasSubstr("max_in_flight_samples_per_worker"));
  EXPECT_FALSE(check([](SamplerOptions* o) { o->rate_limiter_timeout = Duration(-1); }).ok());
}

TEST_F(SamplerTest, NumberOfWorkersFollowsTheSamples) {
  EXPECT_EQ(NumWorkers(Options(-1, 5, 3)), 3);
  EXPECT_EQ(NumWorkers(Options(-1, 5, -1)), 1);
  EXPECT_EQ(NumWorkers(Options(14, 5, 3)), 2);
  EXPECT_EQ(NumWorkers(Options(4, 5, 3)), 1);
}

TEST_F(SamplerTest, NextBatchIsAskedForWhenTheLastSampleIsReturned) {
  Start(Options(-1, 3));
  EXPECT_FALSE(TryNext().ok());
  for (int round = 1; round <= 4; ++round) {
    EXPECT_EQ(Asked(transport_->sample_stream()), std::vector<int64_t>(round, 3));
    // However the answer is cut.
    transport_->sample_stream().Deliver(Items(1));
    transport_->sample_stream().Deliver(Items(2));
    EXPECT_TRUE(TryNext().ok());
    EXPECT_TRUE(TryNext().ok());
    EXPECT_EQ(transport_->sample_stream().requests.size(), static_cast<size_t>(round));
    EXPECT_TRUE(TryNext().ok());
  }
}

TEST_F(SamplerTest, RequestAheadAsksWhenHalfOfTheDepthIsFree) {
  SamplerOptions options = Options(16, 5);
  options.request_ahead = true;
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(5));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(TryNext().ok());
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(5));
  EXPECT_TRUE(TryNext().ok());
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(5, 3));
  // One request at a time: what became free meanwhile is asked for with the next.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(2));
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(5, 3));
  EXPECT_TRUE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(1));
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(5, 3, 3));
  // And never more than max_samples.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(TryNext().ok());
  for (const int delivered : {3, 3, 2}) {
    transport_->sample_stream().Deliver(Items(delivered));
    for (int i = 0; i < delivered; ++i) EXPECT_TRUE(TryNext().ok());
  }
  EXPECT_EQ(TryNext().code(), StatusCode::kOutOfRange);
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(5, 3, 3, 3, 2));
}

TEST_F(SamplerTest, TakeGivesWhatIsThere) {
  Start(Options(9, 3));
  EXPECT_TRUE(sampler_->Take(5).empty());
  EXPECT_TRUE(transport_->sample_streams.empty());
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(3));
  EXPECT_EQ(sampler_->Take(2).size(), 2u);
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(3));
  EXPECT_EQ(sampler_->Take(5).size(), 1u);
  EXPECT_THAT(Asked(transport_->sample_stream()), ElementsAre(3, 3));
  transport_->sample_stream().Deliver(Items(3));
  EXPECT_EQ(sampler_->Take(5).size(), 3u);
  transport_->sample_stream().Deliver(Items(3));
  EXPECT_EQ(sampler_->Take(5).size(), 3u);
  EXPECT_EQ(TryNext().code(), StatusCode::kOutOfRange);
  sampler_->Close();
  EXPECT_TRUE(sampler_->Take(1).empty());
}

TEST_F(SamplerTest, RequestsNeverExceedMaxSamples) {
  Start(Options(7, 3, 2));
  EXPECT_FALSE(TryNext().ok());
  int64_t asked = 0;
  int64_t returned = 0;
  std::vector<size_t> answered(2);
  while (returned < 7) {
    ASSERT_LE(transport_->sample_streams.size(), 2u);
    for (size_t i = 0; i < transport_->sample_streams.size(); ++i) {
      auto& stream = *transport_->sample_streams[i];
      while (answered[i] < stream.requests.size()) {
        const int64_t n = stream.requests[answered[i]++].n;
        asked += n;
        stream.Deliver(Items(n));
      }
    }
    ASSERT_TRUE(TryNext().ok());
    ++returned;
  }
  EXPECT_EQ(asked, 7);
  EXPECT_EQ(TryNext().code(), StatusCode::kOutOfRange);
}

TEST_F(SamplerTest, StreamsAreReplaced) {
  SamplerOptions options = Options(-1, 4);
  options.max_samples_per_stream = 6;
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(4));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(TryNext().ok());
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{4, 2}));
  transport_->sample_stream().Deliver(Items(2));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(TryNext().ok());
  ASSERT_EQ(transport_->sample_streams.size(), 2u);
  EXPECT_FALSE(transport_->sample_streams[0]->open());
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{4}));
}

TEST_F(SamplerTest, WhatALostStreamDidNotDeliverIsAskedForAgain) {
  Start(Options(5, 5));
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(2));
  transport_->sample_stream().Close(UnavailableError("gone"));
  clock_.Advance(seconds(1));
  // Room for a whole batch is needed: what came first must be returned.
  EXPECT_EQ(transport_->sample_streams.size(), 1u);
  EXPECT_TRUE(TryNext().ok());
  EXPECT_TRUE(TryNext().ok());
  ASSERT_EQ(transport_->sample_streams.size(), 2u);
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{3}));
  transport_->sample_stream().Deliver(Items(3));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(TryNext().ok());
  EXPECT_EQ(TryNext().code(), StatusCode::kOutOfRange);
}

TEST_F(SamplerTest, PatienceEnds) {
  Start(Options(-1, 5));
  EXPECT_FALSE(TryNext().ok());
  for (int i = 0; i < 100 && transport_->sample_stream().open(); ++i) {
    transport_->sample_stream().Close(UnavailableError("nobody listens"));
    clock_.Advance(seconds(1));
  }
  const Status status = TryNext();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("fake:1"));
  EXPECT_THAT(status.message(), HasSubstr("nobody listens"));
}

TEST_F(SamplerTest, OtherErrorsEndTheSamplerAfterTheSamples) {
  Start(Options(-1, 5));
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(2));
  transport_->sample_stream().Close(CancelledError("the server is stopping"));
  EXPECT_TRUE(TryNext().ok());
  EXPECT_TRUE(TryNext().ok());
  EXPECT_EQ(TryNext().code(), StatusCode::kCancelled);
  EXPECT_EQ(TryNext().code(), StatusCode::kCancelled);
}

TEST_F(SamplerTest, LimiterTimeoutThatNobodyWaitedForIsForgotten) {
  SamplerOptions options = Options(-1, 2);
  options.rate_limiter_timeout = seconds(3);
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  EXPECT_EQ(transport_->sample_stream().requests[0].timeout, seconds(3));
  transport_->sample_stream().Deliver(Items(1));
  transport_->sample_stream().Close(DeadlineExceededError(kTimeoutText));
  EXPECT_TRUE(TryNext().ok());
  EXPECT_EQ(transport_->sample_streams.size(), 1u);
  // The next caller makes it ask again.
  EXPECT_FALSE(TryNext().ok());
  EXPECT_EQ(transport_->sample_streams.size(), 2u);
  transport_->sample_stream().Deliver(Items(2));
  EXPECT_TRUE(TryNext().ok());
}

TEST_F(SamplerTest, CallersOfMoreThanIsThereMakeItAskAgain) {
  SamplerOptions options = Options(-1, 2);
  options.rate_limiter_timeout = seconds(3);
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(1));
  transport_->sample_stream().Close(DeadlineExceededError(kTimeoutText));
  int returned = 0;
  sampler_->NextAsync(3, [&](Result<Sample> sample) { returned += sample.ok(); });
  EXPECT_EQ(returned, 1);
  EXPECT_EQ(transport_->sample_streams.size(), 2u);
  transport_->sample_stream().Deliver(Items(2));
  EXPECT_EQ(returned, 3);
}

TEST_F(SamplerTest, LimiterTimeoutEndsTheSamplerOfACallerThatWaits) {
  SamplerOptions options = Options(-1, 2);
  options.rate_limiter_timeout = seconds(3);
  Start(options);
  Status status;
  sampler_->NextAsync(1, [&](Result<Sample> sample) { status = sample.status(); });
  transport_->sample_stream().Close(DeadlineExceededError(kTimeoutText));
  EXPECT_TRUE(IsRateLimiterTimeout(status));
  EXPECT_TRUE(IsRateLimiterTimeout(TryNext()));
}

// What the table has given to another worker by then is on its way.
TEST_F(SamplerTest, LimiterTimeoutOfOneWorkerWaitsForTheOthers) {
  SamplerOptions options = Options(-1, 2, 2);
  options.rate_limiter_timeout = seconds(3);
  Start(options);
  std::vector<Status> got;
  const auto next = [&] {
    sampler_->NextAsync(1, [&](Result<Sample> sample) { got.push_back(sample.status()); });
  };
  next();
  ASSERT_EQ(transport_->sample_streams.size(), 2u);
  FakeTransport::FakeSampleStream& other = *transport_->sample_streams[0];
  transport_->sample_stream().Close(DeadlineExceededError(kTimeoutText));
  EXPECT_TRUE(got.empty());
  other.Deliver(Items(1));
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0].ok());
  next();
  ASSERT_EQ(transport_->sample_streams.size(), 3u);
  transport_->sample_stream().Close(DeadlineExceededError(kTimeoutText));
  EXPECT_EQ(got.size(), 1u);
  other.Close(DeadlineExceededError(kTimeoutText));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(IsRateLimiterTimeout(got[1]));
}

TEST_F(SamplerTest, VersionsAreAskedForAndTold) {
  SamplerOptions options = Options(-1, 1);
  options.on_demand = true;
  options.min_version = 7;
  options.unless_version = 9;
  Start(options);
  Result<Sample> got = Status(StatusCode::kUnknown, "no sample yet");
  sampler_->NextAsync(1, [&](Result<Sample> sample) { got = std::move(sample); });
  ASSERT_EQ(transport_->sample_stream().requests.size(), 1u);
  EXPECT_EQ(transport_->sample_stream().requests[0].min_version, 7);
  EXPECT_EQ(transport_->sample_stream().requests[0].unless_version, 9);
  std::vector<core::SampledItem> items = Items(1);
  items[0].version = 8;
  transport_->sample_stream().Deliver(std::move(items));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->info().table_version, 8);
}

TEST_F(SamplerTest, WhoWaitsForAVersionSaysSo) {
  SamplerOptions options = Options(-1, 1);
  options.min_version = 7;
  Start(options);
  EXPECT_THAT(TryNext().message(), HasSubstr("version 7 or a later one of"));
}

TEST_F(SamplerTest, CallersTimeoutIsNotTheLimiters) {
  Start(Options(-1, 2));
  const Status status = TryNext();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(IsRateLimiterTimeout(status));
  EXPECT_THAT(status.message(), HasSubstr("'t'"));
}

TEST_F(SamplerTest, CloseCallsEveryoneBack) {
  Start(Options(-1, 2));
  int called = 0;
  for (int i = 0; i < 3; ++i) {
    sampler_->NextAsync(1, [&](Result<Sample> sample) {
      EXPECT_EQ(sample.status().code(), StatusCode::kCancelled);
      ++called;
    });
  }
  sampler_->Close();
  sampler_->Close();
  EXPECT_EQ(called, 3);
  EXPECT_FALSE(transport_->sample_stream().open());
  EXPECT_EQ(TryNext().code(), StatusCode::kCancelled);
}

TEST_F(SamplerTest, CloseFromACallback) {
  Start(Options(-1, 2));
  int called = 0;
  for (int i = 0; i < 2; ++i) {
    sampler_->NextAsync(1, [&](Result<Sample>) {
      ++called;
      sampler_->Close();
    });
  }
  transport_->sample_stream().Deliver(Items(1));
  EXPECT_EQ(called, 2);
}

TEST_F(SamplerTest, SeveralSamplesAreAskedForAtOnce) {
  SamplerOptions options = Options(-1, 8);
  options.on_demand = true;
  Start(options);
  int called = 0;
  sampler_->NextAsync(5, [&](Result<Sample> sample) { called += sample.ok(); });
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{5}));
  transport_->sample_stream().Deliver(Items(3));
  EXPECT_EQ(called, 3);
  transport_->sample_stream().Deliver(Items(2));
  EXPECT_EQ(called, 5);
  EXPECT_EQ(transport_->sample_stream().requests.size(), 1u);
  // Each that does not come is told.
  int closed = 0;
  sampler_->NextAsync(3, [&](Result<Sample> sample) { closed += !sample.ok(); });
  sampler_->Close();
  EXPECT_EQ(closed, 3);
}

TEST_F(SamplerTest, OnDemandAsksForEachCallerOnly) {
  SamplerOptions options = Options(-1, 8);
  options.on_demand = true;
  Start(options);
  EXPECT_TRUE(transport_->sample_streams.empty());
  int called = 0;
  const auto next = [&] { sampler_->NextAsync(1, [&](Result<Sample> s) { called += s.ok(); }); };
  next();
  next();
  next();
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{1}));
  transport_->sample_stream().Deliver(Items(1));
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{1, 2}));
  transport_->sample_stream().Deliver(Items(2));
  EXPECT_EQ(called, 3);
  EXPECT_EQ(transport_->sample_stream().requests.size(), 2u);
  // A caller that gives up takes its request back.
  EXPECT_EQ(TryNext().code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(transport_->sample_stream().open());
  next();
  EXPECT_EQ(transport_->sample_streams.size(), 2u);
  EXPECT_EQ(Asked(transport_->sample_stream()), (std::vector<int64_t>{1}));
}

TEST_F(SamplerTest, ExpectationsAreCheckedWithTheContractsText) {
  SamplerOptions options = Options(-1, 2);
  TensorSpec spec;
  spec.dtype = DType::kFloat32;
  options.expected = {spec};
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(1));
  const Status status = TryNext();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("Specification has (dtype, shape): (float, []).  Tensor has (dtype, "
                        "shape): (float, [1])."));
  EXPECT_THAT(status.message(), HasSubstr("flattened index 0 from table 't'"));
  EXPECT_EQ(TryNext().code(), StatusCode::kInvalidArgument);
}

TEST_F(SamplerTest, ExpectationsOfStepsHaveNoLeadingAxis) {
  SamplerOptions options = Options(-1, 2);
  options.timesteps = true;
  TensorSpec spec;
  spec.dtype = DType::kFloat32;
  options.expected = {spec};
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(1));
  EXPECT_TRUE(TryNext().ok());

  options.expected->front().dims = {2};
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(1));
  EXPECT_THAT(TryNext().message(),
              HasSubstr("Specification has (dtype, shape): (float, [2]).  Tensor has (dtype, "
                        "shape): (float, [])."));
}

TEST_F(SamplerTest, ItemsOfUnequalColumnsHaveNoSteps) {
  const auto items = [] {
    const std::vector<core::Column> columns = {{0, 1, false}, {1, 1, false}};
    const std::vector<core::ChunkSlice> slices = {{0, 0, 3, 0}, {0, 1, 2, 0}};
    std::vector<core::SampledItem> result(1);
    result[0].trajectory =
        core::Trajectory::Create({core::MakeTestChunk(1, 1, 3)}, columns, slices).value();
    return result;
  };
  SamplerOptions options = Options(-1, 2);
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(items());
  EXPECT_TRUE(TryNext().ok());

  options.timesteps = true;
  Start(options);
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(items());
  const Status status = TryNext();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("An item of table 't' cannot be decomposed into timesteps: column 0 has 3 "
                        "steps, column 1 has 2."));
}

TEST_F(SamplerTest, WaitEndsByTheClock) {
  Start(Options(-1, 2));
  Status status;
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    status = sampler_->Next(Within(seconds(30))).status();
    done = true;
  });
  while (!done) {
    clock_.Advance(seconds(1));
    std::this_thread::yield();
  }
  waiter.join();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SamplerTest, LogsOnceWhatCallersOfNextAsyncWaitFor) {
  std::vector<std::string> lines;
  SetLogSink([&](const std::string& line) { lines.push_back(line); });
  Start(Options(-1, 2));
  sampler_->NextAsync(1, [](Result<Sample>) {});
  for (int i = 0; i < 60; ++i) clock_.Advance(seconds(1));
  transport_->sample_stream().Deliver(Items(1));
  sampler_->NextAsync(1, [](Result<Sample>) {});
  clock_.Advance(seconds(9));
  sampler_->Close();
  clock_.Advance(seconds(60));
  SetLogSink(nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("still waiting after 10 s"));
  EXPECT_THAT(lines[0], HasSubstr("'t'"));
  EXPECT_EQ(transport_->num_info_calls, 2);
}

TEST_F(SamplerTest, ServerThatSendsTooMuchIsRefused) {
  Start(Options(-1, 2));
  EXPECT_FALSE(TryNext().ok());
  transport_->sample_stream().Deliver(Items(3));
  EXPECT_EQ(TryNext().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace reverb_tf::client

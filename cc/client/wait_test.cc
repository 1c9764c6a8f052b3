#include "cc/client/wait.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cc/client/chunk_length_tuner.h"
#include "cc/client/grpc_channel.h"
#include "cc/client/key_sequence.h"
#include "cc/client/log.h"
#include "cc/client/retry.h"
#include "cc/client/table_text.h"
#include "cc/core/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/schema.pb.h"

namespace reverb_tf::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class TestSubject : public WaitSubject {
 public:
  void Refresh() override { ++refreshes; }
  std::string Describe() override { return "waiting for a test"; }
  std::atomic<int> refreshes{0};
};

class WaitTest : public testing::Test {
 protected:
  ~WaitTest() override { SetLogSink(nullptr); }

  // Waits on a thread of its own, while the clock runs, until that ends or `stop` is true.
  Status Wait(const WaitOptions& wait, std::function<bool()> stop = nullptr) {
    std::atomic<bool> ended{false};
    Status status;
    std::thread waiter([&] {
      MutexLock lock(&mu_);
      status = BlockUntil(&mu_, &changed_, &clock_, wait, &subject_, [&] { return done_; });
      ended = true;
    });
    while (!ended) {
      clock_.Advance(milliseconds(200));
      if (stop && stop()) {
        MutexLock lock(&mu_);
        done_ = true;
        changed_.NotifyAll();
      }
      std::this_thread::yield();
    }
    waiter.join();
    return status;
  }

  Mutex mu_;
  CondVar changed_;
  core::FakeClock clock_;
  TestSubject subject_;
  bool done_ = false;
};

TEST_F(WaitTest, TimeoutSaysWhatWasWaitedFor) {
  WaitOptions wait;
  wait.timeout = milliseconds(1500);
  EXPECT_EQ(Wait(wait).ToString(),
            "DEADLINE_EXCEEDED: Timeout exceeded after 1.5 s (Deadline Exceeded): waiting for a "
            "test");
}

TEST_F(WaitTest, ZeroDoesNotWait) {
  MutexLock lock(&mu_);
  WaitOptions wait;
  wait.timeout = Duration::zero();
  const auto done = [&] { return done_; };
  EXPECT_FALSE(BlockUntil(&mu_, &changed_, &clock_, wait, &subject_, done).ok());
  EXPECT_EQ(subject_.refreshes, 1);  // the error has numbers all the same
  done_ = true;
  EXPECT_TRUE(BlockUntil(&mu_, &changed_, &clock_, wait, &subject_, done).ok());
}

TEST_F(WaitTest, LogsOnceAfterTenSeconds) {
  std::atomic<int> lines{0};
  std::vector<std::string> logged;
  SetLogSink([&](const std::string& line) {
    logged.push_back(line);
    ++lines;
  });
  const core::TimePoint start = clock_.Now();
  core::TimePoint seen = core::TimePoint::max();
  EXPECT_TRUE(Wait({}, [&] {
                if (lines > 0 && seen == core::TimePoint::max()) seen = clock_.Now();
                // Long enough to log again, if it did.
                return lines > 0 && clock_.Now() - seen > seconds(60) && subject_.refreshes > 2;
              }).ok());
  EXPECT_GE(clock_.Now() - start, seconds(10));
  EXPECT_THAT(logged, ElementsAre("still waiting after 10 s: waiting for a test"));
}

TEST_F(WaitTest, InterruptedIsAskedAndEndsTheWait) {
  WaitOptions wait;
  int asked = 0;
  wait.interrupted = [&] { return ++asked == 3; };
  const Status status = Wait(wait);
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
}

TEST(RetryTest, PausesGrowUntilPatienceEnds) {
  Retry retry(seconds(5), seconds(1));
  core::TimePoint now;
  int tries = 0;
  Duration last = Duration::zero();
  while (const auto next = retry.NextTry(now, UnavailableError("refused"))) {
    EXPECT_GT(*next, now);
    EXPECT_LE(*next - now, seconds(1));
    last = *next - now;
    now = *next;
    ++tries;
  }
  EXPECT_EQ(now - core::TimePoint(), seconds(5));
  EXPECT_GT(tries, 8);
  EXPECT_LT(tries, 20);
  const Status status = retry.Exhausted("host:1", UnavailableError("refused"));
  EXPECT_EQ(status.message(), "Server host:1 cannot be reached: refused (tried again for 5 s)");
  retry.Reset();
  EXPECT_EQ(*retry.NextTry(now, UnavailableError("refused")) - now, milliseconds(10));
}

TEST(RetryTest, AServerThatSaidThatItStopsIsWaitedForLessLong) {
  Retry retry(seconds(60), milliseconds(500));
  core::TimePoint now;
  now = *retry.NextTry(now, UnavailableError("lost"));
  const core::TimePoint stopped = now;
  now = *retry.NextTry(now, CancelledError("table 't' is closed"));
  while (const auto next = retry.NextTry(now, UnavailableError("refused"))) now = *next;
  EXPECT_EQ(now - stopped, milliseconds(500));
  const Status status = retry.Exhausted("host:1", UnavailableError("refused"));
  EXPECT_THAT(status.message(),
              HasSubstr("Server host:1 was stopped and cannot be reached: refused"));
  // Once something came through, a lost connection is one again.
  retry.Reset();
  for (int i = 0; i < 30; ++i) now = *retry.NextTry(now, UnavailableError("lost"));
}

TEST(KeySequenceTest, KeysCanBeTurnedBack) {
  const KeySequence keys;
  const KeySequence other;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(keys.Index(keys.Key(i)), i);
    EXPECT_GT(keys.Index(other.Key(i)), 1000u);
  }
}

TEST(GrpcChannelTest, LoopbackIsRecognised) {
  for (const char* address : {"localhost:1", "127.0.0.1:1", "127.1.2.3:80", "[::1]:1",
                              "dns:///localhost:1", "ipv4:127.0.0.1:1", "ipv6:[::1]:1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {"", "example.org:1", "10.0.0.1:1", "localhost.example.org:1",
                              "[2001:db8::1]:1", "dns:///host:1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(TableTextTest, SaysTheNumbers) {
  deepmind::reverb::TableInfo table;
  table.set_name("t");
  table.set_max_size(10);
  table.set_current_size(3);
  auto* const limiter = table.mutable_rate_limiter_info();
  limiter->set_samples_per_insert(2);
  limiter->set_min_size_to_sample(5);
  limiter->set_min_diff(1);
  limiter->set_max_diff(8);
  limiter->mutable_insert_stats()->set_completed(3);
  limiter->mutable_sample_stats()->set_completed(4);
  ServerInfo info;
  info.tables = {table.SerializeAsString()};
  EXPECT_EQ(TableStateText(info, "t", true),
            "3 of at most 10 items; a sample needs at least 5 items, and 3 inserts * 2 samples per "
            "insert - 4 samples = 2 must be at least 2");
  EXPECT_EQ(TableStateText(info, "t", false),
            "3 of at most 10 items; an insert needs fewer than 5 items, or 3 inserts * 2 samples "
            "per insert - 4 samples = 2 must be at most 6");
  EXPECT_THAT(TableStateText(info, "u", false), HasSubstr("no table"));
}

// Items of `item_rows` rows, one begun each step, in chunks of the tuner's length with a fixed
// overhead.
int32_t Tune(int64_t item_rows, double row_bytes, double chunk_overhead) {
  ChunkLengthTuner tuner;
  tuner.SetMaxLength(static_cast<int32_t>(item_rows));
  for (int step = 0; step < 20'000; ++step) {
    const int64_t length = tuner.length();
    const auto bytes = static_cast<size_t>(chunk_overhead + row_bytes * length);
    if (step % length == 0) tuner.AddChunk(length, bytes);
    const int64_t chunks = (item_rows + length - 1) / length + (length > 1 ? 1 : 0);
    tuner.AddItem(item_rows, chunks, chunks * length, chunks * bytes);
    EXPECT_GE(tuner.length(), 1);
    EXPECT_LE(tuner.length(), item_rows);
  }
  return tuner.length();
}

TEST(ChunkLengthTunerTest, GrowsWhereOverheadRulesAndStaysSmallWhereRowsDo) {
  EXPECT_EQ(Tune(1, 4, 100), 1);
  EXPECT_GE(Tune(80, 4, 200), 5);
  EXPECT_LE(Tune(10, 100'000, 50), 4);
}

}  // namespace
}  // namespace reverb_tf::client

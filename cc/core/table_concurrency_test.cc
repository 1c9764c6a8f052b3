// Many threads on one table. Run under ThreadSanitizer too.
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cc/core/random.h"
#include "cc/core/table.h"
#include "cc/core/testing/test_items.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using Kind = SelectorOptions::Kind;

// A count that can be waited for.
class Counter {
 public:
  void Add(int64_t n) {
    MutexLock lock(&mu_);
    count_ += n;
    changed_.NotifyAll();
  }
  void WaitFor(int64_t n) {
    MutexLock lock(&mu_);
    while (count_ < n) changed_.Wait(&mu_);
  }
  int64_t count() {
    MutexLock lock(&mu_);
    return count_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int64_t count_ GUARDED_BY(mu_) = 0;
};

// Checks that the keys of one stream come in order, each once.
class OrderObserver : public InsertObserver {
 public:
  OrderObserver(Counter* inserted, Counter* dropped) : inserted_(inserted), dropped_(dropped) {}
  void OnInserted(const uint64_t* keys, size_t n) override {
    CheckOrder(keys, n);
    inserted_->Add(static_cast<int64_t>(n));
  }
  void OnDropped(const uint64_t* keys, size_t n, const Status& why) override {
    EXPECT_EQ(why.code(), StatusCode::kCancelled);
    CheckOrder(keys, n);
    dropped_->Add(static_cast<int64_t>(n));
  }

 private:
  void CheckOrder(const uint64_t* keys, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      EXPECT_GT(keys[i], last_);
      last_ = keys[i];
    }
  }

  Counter* const inserted_;
  Counter* const dropped_;
  uint64_t last_ = 0;  // notices come one at a time
};

std::shared_ptr<Table> MakeTable(Kind sampler, Kind remover, int64_t max_size, int32_t max_times,
                                 const RateLimiterOptions& limiter) {
  TableOptions options;
  options.name = "table";
  options.sampler.kind = sampler;
  options.remover.kind = remover;
  options.max_size = max_size;
  options.max_times_sampled = max_times;
  options.rate_limiter = limiter;
  return Table::Create(options).value();
}

uint64_t Key(uint64_t thread, uint64_t i) { return (thread << 32) + i + 1; }

void InsertAll(Table* table, uint64_t thread, uint64_t n,
               const std::shared_ptr<InsertObserver>& observer) {
  Random random(thread);
  uint64_t done = 0;
  while (done < n) {
    std::vector<NewItem> items;
    for (uint64_t i = 1 + random.Below(5); i > 0 && done < n; --i) {
      items.push_back(MakeTestItem(Key(thread, done++), random.Unit(), thread));
    }
    EXPECT_TRUE(table->Insert(std::move(items), observer).status.ok());
  }
}

// A queue hands out each item once, whatever the threads.
TEST(TableConcurrencyTest, QueueLosesAndDoublesNothing) {
  constexpr uint64_t kThreads = 4, kItems = 1000;
  const auto table = MakeTable(Kind::kFifo, Kind::kFifo, 10, 1, {1, 1, 0, 10});
  Counter inserted, dropped, sampled;
  Mutex mu;
  std::unordered_map<uint64_t, int> seen;
  const auto request = [&](int64_t n) {
    return table->Sample({n, SIZE_MAX, kNoDeadline}, [&](Table::SampleResult result) {
      if (!result.status.ok()) return;
      {
        MutexLock lock(&mu);
        for (const SampledItem& item : result.items) ++seen[item.key];
      }
      sampled.Add(static_cast<int64_t>(result.items.size()));
    });
  };
  std::atomic<int64_t> asked{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      InsertAll(table.get(), t, kItems, std::make_shared<OrderObserver>(&inserted, &dropped));
    });
    threads.emplace_back([&, t] {
      Random random(t + 100);
      while (sampled.count() < static_cast<int64_t>(kThreads * kItems)) {
        const Table::Ticket ticket = request(1 + static_cast<int64_t>(random.Below(7)));
        if (random.Below(3) == 0) table->CancelSample(ticket);
        ++asked;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  inserted.WaitFor(kThreads * kItems);
  table->Close();
  EXPECT_EQ(seen.size(), kThreads * kItems);
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
  const TableInfo info = table->Info();
  EXPECT_EQ(info.inserts, static_cast<int64_t>(kThreads * kItems));
  EXPECT_EQ(info.samples, info.inserts);
  EXPECT_EQ(info.deletes, info.inserts);
  EXPECT_EQ(info.current_size, 0);
  EXPECT_EQ(info.num_episodes, 0);
  EXPECT_EQ(dropped.count(), 0);
}

class HammerTest : public ::testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, HammerTest,
                         ::testing::Values(Kind::kFifo, Kind::kLifo, Kind::kUniform,
                                           Kind::kPrioritized, Kind::kMinHeap, Kind::kMaxHeap));

// Everything at once, ended by Close: every accepted item and every request is answered once, and
// the counters add up.
TEST_P(HammerTest, CountsBalance) {
  constexpr uint64_t kInserters = 3, kItems = 600;
  const auto table = MakeTable(GetParam(), GetParam(), 50, 3, {2, 5, 0, 60});
  Counter inserted, dropped;
  std::atomic<int64_t> requests{0}, answers{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> inserters;
  for (uint64_t t = 0; t < kInserters; ++t) {
    inserters.emplace_back([&, t] {
      InsertAll(table.get(), t, kItems, std::make_shared<OrderObserver>(&inserted, &dropped));
    });
  }
  std::vector<std::thread> others;
  others.emplace_back([&] {
    Random random(7);
    while (!stop) {
      ++requests;
      const TimePoint now = std::chrono::steady_clock::now();
      const TimePoint deadlines[] = {kNoDeadline, now, now + std::chrono::microseconds(50)};
      const Table::Ticket ticket = table->Sample(
          {1 + static_cast<int64_t>(random.Below(5)), SIZE_MAX, deadlines[random.Below(3)]},
          [&answers](Table::SampleResult result) {
            EXPECT_EQ(result.status.ok(), !result.items.empty());
            for (const SampledItem& item : result.items)
              EXPECT_EQ(item.trajectory->num_chunks(), 1);
            ++answers;
          });
      if (random.Below(5) == 0) table->CancelSample(ticket);
    }
  });
  others.emplace_back([&] {
    Random random(8);
    while (!stop) {
      const PriorityUpdate updates[] = {{Key(random.Below(kInserters), random.Below(kItems)), 2},
                                        {Key(random.Below(kInserters), random.Below(kItems)), 0}};
      const uint64_t deletes[] = {Key(random.Below(kInserters), random.Below(kItems))};
      EXPECT_TRUE(table->Mutate(updates, 2, deletes, 1).ok());
      EXPECT_FALSE(table->DebugString().empty());
    }
  });
  others.emplace_back([&] {
    while (!stop) {
      EXPECT_TRUE(table->Reset().ok());
      std::this_thread::yield();
      const TableInfo info = table->Info();
      EXPECT_EQ(info.current_size, info.inserts - info.deletes);
      EXPECT_LE(info.current_size, 50);
    }
  });
  for (std::thread& thread : inserters) thread.join();
  stop = true;
  for (std::thread& thread : others) thread.join();
  table->Close();
  inserted.WaitFor(static_cast<int64_t>(kInserters * kItems) - dropped.count());
  EXPECT_EQ(inserted.count() + dropped.count(), static_cast<int64_t>(kInserters * kItems));
  EXPECT_EQ(answers, requests);
}

// A callback that is at work when the table closes, from many threads.
TEST(TableConcurrencyTest, CloseWhileEverybodyIsAtIt) {
  for (int round = 0; round < 50; ++round) {
    const auto table = MakeTable(Kind::kUniform, Kind::kFifo, 5, 0, {1, 1, 0, 5});
    Counter inserted, dropped;
    std::atomic<int64_t> accepted{0}, requests{0}, answers{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        const auto observer = std::make_shared<OrderObserver>(&inserted, &dropped);
        for (uint64_t i = 0; i < 50; ++i) {
          std::vector<NewItem> items;
          items.push_back(MakeTestItem(Key(t, i)));
          accepted += static_cast<int64_t>(table->Insert(std::move(items), observer).num_accepted);
          ++requests;
          table->Sample({1, SIZE_MAX, kNoDeadline}, [&answers](Table::SampleResult) { ++answers; });
        }
      });
    }
    threads.emplace_back([&] { table->Close(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(inserted.count() + dropped.count(), accepted);
    EXPECT_EQ(answers, requests);
  }
}

}  // namespace
}  // namespace reverb_tf::core

// Random sequences of operations on a table and on a model of it: for every sampler, remover and
// rate limiter.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "cc/core/table.h"
#include "cc/core/testing/fake_clock.h"
#include "cc/core/testing/recording_selector.h"
#include "cc/core/testing/table_model.h"
#include "cc/core/testing/test_items.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using Kind = SelectorOptions::Kind;

constexpr double kMax = std::numeric_limits<double>::max();
constexpr int kSteps = 120;
constexpr uint64_t kKeys = 12;  // so few that many are inserted again

const RateLimiterOptions kLimiters[] = {
    {1, 1, -kMax, kMax},  // MinSize(1)
    {1, 4, -kMax, kMax},  // MinSize(4)
    {1, 1, 0, 3},         // Queue(3), Stack(3)
    {2, 2, 2, 6},         // SampleToInsertRatio(2.0, 2, 2.0)
    {0.3, 1, -1, 1.5},    // fewer samples than inserts
};

// One random sequence.
class Sequence {
 public:
  Sequence(const TableOptions& options, uint64_t seed)
      : random_(seed), model_(options, sampled_, removed_) {
    const auto recording = [seed](const SelectorOptions& selector, auto record) {
      return std::make_unique<RecordingSelector>(MakeSelector(selector, seed).value(), record);
    };
    table_ = Table::Create(options, recording(options.sampler, sampled_),
                           recording(options.remover, removed_), &clock_)
                 .value();
    for (auto& observer : observers_) observer = std::make_shared<RecordingObserver>();
  }

  void Run() {
    for (int step = 0; step < kSteps && Agrees(); ++step) Step();
    log_ << "close\n";
    table_->Close();
    model_.Close();
    Agrees();
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }
  double Priority() { return static_cast<double>(Below(5)) / 2; }

  void Step() {
    const uint64_t kind = Below(20);
    if (kind < 8) {
      Insert();
    } else if (kind < 14) {
      Sample();
    } else if (kind < 16) {
      Mutate();
    } else if (kind == 16) {
      Cancel();
    } else if (kind == 17) {
      Advance();
    } else if (kind == 18) {
      InsertBadPriority();
    } else if (Below(4) == 0) {
      log_ << "reset\n";
      EXPECT_TRUE(table_->Reset().ok());
      model_.Reset();
    }
  }

  void Insert() {
    const int observer = static_cast<int>(Below(TableModel::kObservers));
    std::vector<TableModel::Item> expected(1 + Below(Below(4) == 0 ? 6 : 2));
    std::vector<NewItem> items;
    log_ << "insert for " << observer << ":";
    for (TableModel::Item& item : expected) {
      item.key = 1 + Below(kKeys);
      item.priority = Priority();
      item.times_sampled = Below(5) == 0 ? 1 : 0;
      item.episodes = {Below(4)};
      if (Below(3) == 0) item.episodes.push_back(Below(4));
      std::vector<ChunkRef> chunks;
      for (uint64_t episode : item.episodes) {
        chunks.push_back(MakeTestChunk(++last_chunk_, episode));
      }
      items.push_back(
          {item.key, item.priority, item.times_sampled, MakeTestTrajectory(std::move(chunks))});
      log_ << " " << item.key << " (" << item.priority << ", " << item.times_sampled << ")";
    }
    log_ << "\n";
    EXPECT_TRUE(table_->Insert(std::move(items), observers_[observer]).status.ok());
    model_.Insert(expected, observer);
  }

  void InsertBadPriority() {
    log_ << "insert with priority nan\n";
    std::vector<NewItem> items = MakeTestItems(1 + Below(kKeys));
    items[0].priority = std::nan("");
    EXPECT_FALSE(table_->Insert(std::move(items), observers_[0]).status.ok());
  }

  void Sample() {
    const int64_t n = 1 + static_cast<int64_t>(Below(6));
    const int64_t wait = static_cast<int64_t>(Below(4)) - 1;
    log_ << "sample " << n << ", wait " << wait << " s\n";
    requests_.emplace_back(table_.get(), n,
                           wait < 0 ? kNoDeadline : clock_.Now() + std::chrono::seconds(wait));
    model_.AddRequest(n, wait < 0 ? -1 : now_ + wait);
  }

  void Mutate() {
    std::vector<uint64_t> deletes;
    std::vector<PriorityUpdate> updates;
    log_ << "mutate: delete";
    for (uint64_t i = Below(3); i > 0; --i) {
      deletes.push_back(1 + Below(kKeys));
      log_ << " " << deletes.back();
      model_.Delete(deletes.back());
    }
    log_ << ", update";
    for (uint64_t i = Below(4); i > 0; --i) {
      updates.push_back({1 + Below(kKeys), Priority()});
      log_ << " " << updates.back().key << " (" << updates.back().priority << ")";
      model_.Update(updates.back().key, updates.back().priority);
    }
    log_ << "\n";
    EXPECT_TRUE(
        table_->Mutate(updates.data(), updates.size(), deletes.data(), deletes.size()).ok());
    model_.Pump();
  }

  void Cancel() {
    if (Below(4) == 0) {
      const int observer = static_cast<int>(Below(TableModel::kObservers));
      log_ << "cancel inserts of " << observer << "\n";
      table_->CancelInserts(observers_[observer].get());
      model_.CancelInserts(observer);
    } else if (!requests_.empty()) {
      const size_t request = requests_.size() - 1 - Below(std::min<size_t>(3, requests_.size()));
      log_ << "cancel request " << request << "\n";
      EXPECT_EQ(table_->CancelSample(requests_[request].ticket()), model_.CancelRequest(request));
    }
  }

  void Advance() {
    log_ << "advance 1 s\n";
    clock_.Advance(std::chrono::seconds(1));
    model_.AdvanceTo(++now_);
  }

  // Compares everything that can be seen.
  bool Agrees() {
    model_.CheckAllChoicesFollowed();
    EXPECT_EQ(model_.error(), "");
    CompareCounters();
    for (const TableModel::Item& item : model_.items()) {
      const std::optional<SampledItem> real = table_->Get(item.key);
      EXPECT_TRUE(real.has_value()) << item.key;
      if (!real) continue;
      EXPECT_EQ(real->priority, item.priority) << item.key;
      EXPECT_EQ(real->times_sampled, item.times_sampled) << item.key;
      EXPECT_EQ(real->trajectory->num_chunks(), static_cast<int>(item.episodes.size()));
    }
    for (size_t i = 0; i < requests_.size(); ++i) CompareRequest(i);
    for (int i = 0; i < TableModel::kObservers; ++i) {
      EXPECT_EQ(observers_[i]->inserted(), model_.inserted(i)) << i;
      EXPECT_EQ(observers_[i]->dropped(), model_.dropped(i)) << i;
    }
    if (!::testing::Test::HasFailure()) return true;
    ADD_FAILURE() << table_->DebugString() << "\nafter this sequence:\n" << log_.str();
    return false;
  }

  void CompareCounters() {
    const TableInfo info = table_->Info();
    EXPECT_EQ(info.current_size, static_cast<int64_t>(model_.items().size()));
    EXPECT_EQ(info.inserts, model_.inserts);
    EXPECT_EQ(info.samples, model_.samples);
    EXPECT_EQ(info.deletes, model_.deletes);
    EXPECT_EQ(info.num_unique_samples, model_.num_unique);
    EXPECT_EQ(info.num_episodes, model_.num_episodes());
    EXPECT_EQ(info.num_deleted_episodes, model_.num_deleted_episodes);
    EXPECT_EQ(info.waiting_inserts, model_.num_waiting_inserts());
    EXPECT_EQ(info.waiting_samples, model_.num_waiting_requests());
  }

  void CompareRequest(size_t i) {
    const TestRequest& real = requests_[i];
    const TableModel::Request& expected = model_.requests()[i];
    EXPECT_EQ(real.num_calls(), expected.done ? 1 : 0) << "request " << i;
    if (!real.done() || !expected.done) return;
    if (!compared_.insert(i).second) return;  // a result does not change
    EXPECT_EQ(real.result().status.code(), expected.code) << "request " << i;
    const std::vector<SampledItem>& items = real.result().items;
    ASSERT_EQ(items.size(), expected.samples.size()) << "request " << i;
    for (size_t j = 0; j < items.size(); ++j) {
      const TableModel::Sample& sample = expected.samples[j];
      EXPECT_EQ(std::tuple(items[j].key, items[j].probability, items[j].priority,
                           items[j].table_size, items[j].times_sampled, items[j].rate_limited),
                std::tuple(sample.key, sample.probability, sample.priority, sample.table_size,
                           sample.times_sampled, sample.rate_limited))
          << "request " << i << ", item " << j;
      EXPECT_TRUE(items[j].trajectory);
    }
  }

  FakeClock clock_;
  int64_t now_ = 0;  // seconds
  std::mt19937_64 random_;
  uint64_t last_chunk_ = 0;
  TableModel::Record sampled_ = std::make_shared<RecordingSelector::Record>();
  TableModel::Record removed_ = std::make_shared<RecordingSelector::Record>();
  TableModel model_;
  std::shared_ptr<Table> table_;
  std::shared_ptr<RecordingObserver> observers_[TableModel::kObservers];
  std::vector<TestRequest> requests_;
  std::set<size_t> compared_;  // requests with a result
  std::ostringstream log_;
};

class TableModelTest : public ::testing::TestWithParam<std::tuple<Kind, Kind, int>> {};

const Kind kKinds[] = {Kind::kFifo,        Kind::kLifo,    Kind::kUniform,
                       Kind::kPrioritized, Kind::kMinHeap, Kind::kMaxHeap};

INSTANTIATE_TEST_SUITE_P(All, TableModelTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::ValuesIn(kKinds), ::testing::Range(0, 5)));

TEST_P(TableModelTest, AgreesWithTheModel) {
  const auto [sampler, remover, limiter] = GetParam();
  for (int64_t max_size : {1, 3, 20}) {
    for (int32_t max_times_sampled : {0, 1, 3}) {
      TableOptions options;
      options.name = "table";
      options.sampler = {sampler, 0.5};
      options.remover = {remover, 1.0};
      options.max_size = max_size;
      options.max_times_sampled = max_times_sampled;
      options.rate_limiter = kLimiters[limiter];
      for (uint64_t seed = 1; seed <= 2; ++seed) {
        Sequence(options, seed * 1000 + static_cast<uint64_t>(max_size * 10 + max_times_sampled))
            .Run();
        ASSERT_FALSE(HasFailure()) << "max_size " << max_size << ", max_times_sampled "
                                   << max_times_sampled << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace reverb_tf::core

#include "cc/ops/sampler_pool.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace reverb_tf::ops {
namespace {

// What the samplers of a FakeClient were asked for and what became of them.
struct Record {
  std::vector<SamplerOptions> created;
  int alive = 0;
};

class FakeSampler : public Sampler {
 public:
  explicit FakeSampler(Record* record) : record_(record) { ++record_->alive; }
  ~FakeSampler() override { --record_->alive; }
  Result<Sample> Next(const WaitOptions& wait) override { return InternalError("not used"); }
  void NextAsync(int64_t n, Callback callback) override { callback(InternalError("not used")); }
  std::vector<Sample> Take(int64_t n) override { return {}; }
  void Close() override {}

 private:
  Record* const record_;
};

// A client that makes samplers and can do nothing else.
class FakeClient : public Client {
 public:
  explicit FakeClient(Record* record) : record_(record) {}

  Result<std::unique_ptr<Sampler>> NewSampler(const SamplerOptions& options) override {
    if (options.table.empty()) return InvalidArgumentError("table must not be empty");
    record_->created.push_back(options);
    return std::unique_ptr<Sampler>(new FakeSampler(record_));
  }

  const std::string& address() const override { return address_; }
  Result<ServerInfo> GetServerInfo(const WaitOptions& wait) override { return Unused(); }
  Result<TableSignature> GetSignature(const std::string& table, const WaitOptions& wait) override {
    return Unused();
  }
  Status MutatePriorities(const std::string& table, const KeyWithPriority* updates,
                          size_t num_updates, const uint64_t* deletes, size_t num_deletes,
                          const WaitOptions& wait) override {
    return Unused();
  }
  std::function<void()> MutatePrioritiesAsync(const std::string& table,
                                              std::vector<KeyWithPriority> updates,
                                              std::vector<uint64_t> deletes,
                                              StatusCallback callback) override {
    return [] {};
  }
  Status Reset(const std::string& table, const WaitOptions& wait) override { return Unused(); }
  Result<std::string> Checkpoint(const WaitOptions& wait) override { return Unused(); }
  Result<std::vector<Sample>> Get(const std::string& table, const uint64_t* keys, size_t n,
                                  const WaitOptions& wait) override {
    return Unused();
  }
  Result<ItemPage> ListItems(const std::string& table, uint64_t start, int32_t max_items,
                             const WaitOptions& wait) override {
    return Unused();
  }
  Result<int64_t> Delete(const std::string& table, const uint64_t* keys, size_t n,
                         const WaitOptions& wait) override {
    return Unused();
  }
  std::function<void()> DeleteAsync(const std::string& table, std::vector<uint64_t> keys,
                                    CountCallback callback) override {
    return [] {};
  }
  Status SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                        const WaitOptions& wait) override {
    return Unused();
  }
  Result<std::vector<uint64_t>> Insert(const TensorView* values, int32_t n,
                                       const std::vector<TableAndPriority>& targets,
                                       const WaitOptions& wait) override {
    return Unused();
  }
  std::function<void()> InsertAsync(const TensorView* values, int32_t n,
                                    std::vector<TableAndPriority> targets,
                                    std::shared_ptr<const void> owner,
                                    KeysCallback callback) override {
    return [] {};
  }
  std::function<void()> InsertBatchAsync(const TensorView* values, int32_t n,
                                         const std::string& table, std::vector<double> priorities,
                                         KeysCallback callback) override {
    return [] {};
  }
  Result<std::unique_ptr<TrajectoryWriter>> NewTrajectoryWriter(
      const TrajectoryWriterOptions& options, const WaitOptions& wait) override {
    return Unused();
  }
  Result<std::unique_ptr<StructuredWriter>> NewStructuredWriter(
      const std::vector<std::string>& serialized_configs) override {
    return Unused();
  }
  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options,
                                            const WaitOptions& wait) override {
    return Unused();
  }

 private:
  static Status Unused() { return InternalError("not used"); }

  Record* const record_;
  const std::string address_ = "fake";
};

class SamplerPoolTest : public ::testing::Test {
 protected:
  Record record_;
  SamplerPool pool_{std::make_shared<FakeClient>(&record_),
                    {/*timesteps=*/true, /*align_arrays=*/true}};
};

TEST_F(SamplerPoolTest, SamplersTakeNothingAheadOfTheirCaller) {
  ASSERT_TRUE(pool_.Take("t").ok());
  ASSERT_EQ(record_.created.size(), 1u);
  EXPECT_EQ(record_.created[0].table, "t");
  EXPECT_TRUE(record_.created[0].on_demand);
  EXPECT_EQ(record_.created[0].max_in_flight_samples_per_worker, SamplerPool::kMaxSamples);
  EXPECT_TRUE(record_.created[0].timesteps);
  EXPECT_TRUE(record_.created[0].align_arrays);
  EXPECT_EQ(record_.created[0].max_samples, -1);
}

TEST_F(SamplerPoolTest, ASamplerThatWasPutBackIsTakenAgain) {
  std::shared_ptr<Sampler> sampler = pool_.Take("t").value();
  Sampler* const first = sampler.get();
  pool_.Put("t", std::move(sampler));
  EXPECT_EQ(pool_.Take("t").value().get(), first);
  EXPECT_EQ(record_.created.size(), 1u);
}

TEST_F(SamplerPoolTest, CallsAtTheSameTimeHaveSamplersOfTheirOwn) {
  std::shared_ptr<Sampler> first = pool_.Take("t").value();
  std::shared_ptr<Sampler> second = pool_.Take("t").value();
  EXPECT_NE(first, second);
}

TEST_F(SamplerPoolTest, TablesDoNotShareSamplers) {
  pool_.Put("a", pool_.Take("a").value());
  std::shared_ptr<Sampler> sampler = pool_.Take("b").value();
  ASSERT_EQ(record_.created.size(), 2u);
  EXPECT_EQ(record_.created[1].table, "b");
}

TEST_F(SamplerPoolTest, ASamplerThatIsNotPutBackIsGone) {
  pool_.Take("t").value().reset();
  EXPECT_EQ(record_.alive, 0);
  std::shared_ptr<Sampler> sampler = pool_.Take("t").value();
  EXPECT_EQ(record_.created.size(), 2u);
}

TEST_F(SamplerPoolTest, IdleSamplersAreBounded) {
  std::vector<std::shared_ptr<Sampler>> samplers;
  for (size_t i = 0; i < SamplerPool::kMaxIdle + 5; ++i) {
    samplers.push_back(pool_.Take("t").value());
  }
  for (std::shared_ptr<Sampler>& sampler : samplers) pool_.Put("t", std::move(sampler));
  samplers.clear();
  EXPECT_EQ(record_.alive, static_cast<int>(SamplerPool::kMaxIdle));
}

TEST_F(SamplerPoolTest, ErrorsOfTheClientAreReturned) {
  EXPECT_EQ(pool_.Take("").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace reverb_tf::ops

// Sample::ShareColumn, of samples of a server of this process and over gRPC.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "cc/client/testing/test_data.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using Floats = std::vector<float>;

Floats Noise(size_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  Floats noise(n);
  for (float& x : noise) x = static_cast<float>(rng());
  return noise;
}

class SharedColumnTest : public testing::TestWithParam<Path> {
 protected:
  void Start() {
    server_ = StartServer({QueueOptions("q", 100)});
    client_ = MakeClient(AddressOf(*server_), GetParam());
  }

  // Inserts an item of these columns of one row each, and samples it.
  Sample RoundTrip(const std::vector<Floats>& columns, bool align_arrays) {
    std::vector<std::unique_ptr<TestArray<float>>> arrays;
    std::vector<TensorView> views;
    for (const Floats& column : columns) {
      arrays.push_back(std::make_unique<TestArray<float>>(
          DType::kFloat32, std::vector<int64_t>{static_cast<int64_t>(column.size())}, column));
      views.push_back(arrays.back()->view());
    }
    const auto keys =
        client_->Insert(views.data(), static_cast<int32_t>(views.size()), {{"q", 1.0}}, Soon());
    EXPECT_TRUE(keys.ok()) << keys.status().ToString();
    SamplerOptions options;
    options.table = "q";
    options.max_samples = 1;
    options.align_arrays = align_arrays;
    return client_->NewSampler(options).value()->Next(Soon()).value();
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Paths, SharedColumnTest, testing::Values(Path::kLocal, Path::kGrpc),
                         PathName);

TEST_P(SharedColumnTest, LargeArraysThatWereReceivedOutliveTheirSample) {
  Start();
  // Columns below 256 KiB share a chunk.
  const std::vector<Floats> columns = {Noise(100'000, 1), Noise(10, 2), Noise(70'000, 3),
                                       Floats(100'000, 1.0F)};
  std::vector<std::shared_ptr<const void>> shared;
  {
    const Sample sample = RoundTrip(columns, true);
    for (int i = 0; i < 4; ++i) {
      shared.push_back(sample.ShareColumn(i));
      Floats read(columns[i].size());
      ASSERT_TRUE(sample.ReadColumn(i, read.data(), read.size() * sizeof(float)).ok());
      EXPECT_EQ(read, columns[i]);
    }
  }
  for (int i = 0; i < 20; ++i) RoundTrip({Noise(100'000, 4), Noise(70'000, 5)}, true);
  for (const int i : {0, 2}) {
    ASSERT_EQ(shared[i] != nullptr, GetParam() == Path::kGrpc);
    if (shared[i] == nullptr) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(shared[i].get()) % kArrayAlignment, 0u);
    EXPECT_EQ(std::memcmp(shared[i].get(), columns[i].data(), columns[i].size() * sizeof(float)),
              0);
  }
  EXPECT_EQ(shared[1], nullptr) << "small";
  EXPECT_EQ(shared[3], nullptr) << "compressed";
}

TEST_P(SharedColumnTest, NothingIsSharedUnlessAskedFor) {
  Start();
  EXPECT_EQ(RoundTrip({Noise(100'000, 1)}, false).ShareColumn(0), nullptr);
}

}  // namespace
}  // namespace reverb_tf::client

// InsertBatchAsync and DeleteAsync against a server, in process and over gRPC.
#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/structured_value.pb.h"

namespace reverb_tf::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ClientInsertsTest : public testing::TestWithParam<Path> {
 protected:
  using Keys = std::vector<uint64_t>;

  void Start(const std::vector<TableOptions>& tables) {
    server_ = StartServer(tables);
    client_ = MakeClient(AddressOf(*server_), GetParam());
  }

  // Rows 0, 1, ... of `width` numbers each: row i is i * width, i * width + 1, ...
  static std::unique_ptr<TestArray<int64_t>> Rows(int64_t n, int64_t width) {
    std::vector<int64_t> numbers(n * width);
    std::iota(numbers.begin(), numbers.end(), 0);
    return std::make_unique<TestArray<int64_t>>(DType::kInt64, std::vector<int64_t>{n, width},
                                                std::move(numbers));
  }

  std::future<Result<Keys>> StartBatch(const std::vector<TensorView>& values,
                                       const std::string& table, std::vector<double> priorities) {
    auto promise = std::make_shared<std::promise<Result<Keys>>>();
    cancel_ = client_->InsertBatchAsync(
        values.data(), static_cast<int32_t>(values.size()), table, std::move(priorities),
        [promise](Result<Keys> keys) { promise->set_value(std::move(keys)); });
    return promise->get_future();
  }
  Result<Keys> InsertBatch(const std::vector<TensorView>& values, const std::string& table,
                           std::vector<double> priorities) {
    return StartBatch(values, table, std::move(priorities)).get();
  }

  Result<int64_t> Delete(const std::string& table, Keys keys) {
    std::promise<Result<int64_t>> promise;
    client_->DeleteAsync(table, std::move(keys),
                         [&](Result<int64_t> count) { promise.set_value(std::move(count)); });
    return promise.get_future().get();
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
  std::function<void()> cancel_;
};

INSTANTIATE_TEST_SUITE_P(Paths, ClientInsertsTest, testing::Values(Path::kLocal, Path::kGrpc),
                         PathName);

TEST_P(ClientInsertsTest, RowsBecomeItemsInOrder) {
  Start({QueueOptions("q", 5000)});
  // Rows of 800 bytes: many chunks of 64 KiB.
  const auto rows = Rows(2000, 100);
  std::vector<double> priorities(2000);
  std::iota(priorities.begin(), priorities.end(), 1);
  const Keys keys = InsertBatch({rows->view()}, "q", priorities).value();
  ASSERT_EQ(keys.size(), 2000u);
  SamplerOptions options;
  options.table = "q";
  const auto sampler = client_->NewSampler(options).value();
  for (int64_t i = 0; i < 2000; ++i) {
    const Sample sample = sampler->Next(Soon()).value();
    ASSERT_EQ(sample.info().key, keys[i]);
    ASSERT_EQ(sample.info().priority, priorities[i]);
    ASSERT_EQ(sample.column(0).num_rows, 1);
    ASSERT_FALSE(sample.column(0).squeezed);
    std::vector<int64_t> row(100);
    ASSERT_TRUE(sample.ReadColumn(0, row.data(), 800).ok());
    ASSERT_EQ(row.front(), i * 100);
    ASSERT_EQ(row.back(), i * 100 + 99);
  }
}

TEST_P(ClientInsertsTest, StringsAndAnEmptyBatch) {
  Start({QueueOptions("q", 10)});
  const TestArray<std::string_view> strings(DType::kString, {3, 1}, {"a", "", "long enough"});
  const auto rows = Rows(3, 2);
  ASSERT_TRUE(InsertBatch({rows->view(), strings.view()}, "q", {1, 1, 1}).ok());
  SamplerOptions options;
  options.table = "q";
  const auto sampler = client_->NewSampler(options).value();
  for (const char* expected : {"a", "", "long enough"}) {
    const Sample sample = sampler->Next(Soon()).value();
    EXPECT_THAT(sample.ReadStrings(1, 0, 1).value(), ElementsAre(expected));
  }
  const auto none = Rows(0, 2);
  EXPECT_TRUE(InsertBatch({none->view()}, "q", {}).value().empty());
}

TEST_P(ClientInsertsTest, ABatchThatDoesNotFitInsertsNothing) {
  TableOptions prioritized = PrioritizedOptions("p");
  reverb_tf::tensorflow_compat::StructuredValue signature;
  auto* const spec = signature.mutable_tensor_spec_value();
  spec->set_name("spec");
  spec->set_dtype(static_cast<decltype(spec->dtype())>(9));  // int64
  spec->mutable_shape()->add_dim()->set_size(2);
  TableOptions with_signature = UniformOptions("s");
  with_signature.signature = signature.SerializeAsString();
  Start({prioritized, with_signature});
  const auto rows = Rows(2, 3);
  const auto check = [&](const Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  check(InsertBatch({}, "p", {1}).status(), "no arrays");
  check(InsertBatch({rows->view()}, "p", {1}).status(), "shape [2,3], but there are 1 priorities");
  check(InsertBatch({Scalar(1)->view()}, "p", {1}).status(), "shape [], but");
  check(InsertBatch({rows->view()}, "nope", {1, 1}).status(), "'nope'");
  check(InsertBatch({rows->view()}, "p", {1, -1}).status(), "Item 1 of the batch");
  check(InsertBatch({rows->view()}, "p", {1, std::nan("")}).status(), "Item 1 of the batch");
  check(InsertBatch({rows->view()}, "s", {1, 1}).status(), "column 0");
  EXPECT_EQ(client_->ListItems("p", 0, 10, Soon())->items.size(), 0u);
  EXPECT_EQ(client_->ListItems("s", 0, 10, Soon())->items.size(), 0u);
  // The step's own shape, where the signature expects it.
  const auto fitting = Rows(2, 2);
  const Keys keys = InsertBatch({fitting->view()}, "s", {1, 1}).value();
  EXPECT_TRUE(client_->Get("s", keys.data(), 1, Soon())->front().column(0).squeezed);
}

TEST_P(ClientInsertsTest, BatchesAndSingleInsertsShareAStream) {
  Start({QueueOptions("q", 100)});
  std::vector<std::future<Result<Keys>>> batches;
  const auto rows = Rows(5, 1);
  for (int i = 0; i < 10; ++i) {
    batches.push_back(StartBatch({rows->view()}, "q", {1, 1, 1, 1, 1}));
    ASSERT_TRUE(client_->Insert(&Scalar(i)->view(), 1, {{"q", 1}}, Soon()).ok());
  }
  for (auto& batch : batches) EXPECT_EQ(batch.get()->size(), 5u);
  EXPECT_EQ(client_->ListItems("q", 0, 100, Soon())->items.size(), 60u);
}

TEST_P(ClientInsertsTest, CancelledBatchComesBack) {
  Start({QueueOptions("q", 3)});
  const auto rows = Rows(5, 1);
  auto batch = StartBatch({rows->view()}, "q", {1, 1, 1, 1, 1});
  cancel_();
  EXPECT_EQ(batch.get().status().code(), StatusCode::kCancelled);
}

// Numbers that do not compress, wiped when the client lets go of them.
struct OwnedNoise {
  explicit OwnedNoise(uint64_t seed, int64_t n = 100'000) : numbers(n), dims{n} {
    std::mt19937_64 rng(seed);
    for (int64_t& number : numbers) number = static_cast<int64_t>(rng());
    owner = std::shared_ptr<const void>(&numbers, [this](const void*) {
      std::fill(numbers.begin(), numbers.end(), 0);
      released.set_value();
    });
  }
  TensorView view() const {
    TensorView view;
    view.dtype = DType::kInt64;
    view.rank = 1;
    view.dims = dims.data();
    view.data = numbers.data();
    return view;
  }

  std::vector<int64_t> numbers;
  const std::vector<int64_t> dims;
  std::promise<void> released;
  std::shared_ptr<const void> owner;
};

TEST_P(ClientInsertsTest, ArraysWithAnOwnerAreReadWhileItIsHeld) {
  Start({QueueOptions("q", 100), UniformOptions("u")});
  SamplerOptions options;
  options.table = "q";
  const auto sampler = client_->NewSampler(options).value();
  for (uint64_t i = 0; i < 6; ++i) {
    OwnedNoise noise(i);
    const std::vector<int64_t> numbers = noise.numbers;
    const auto small = Scalar(static_cast<int64_t>(i));
    const TensorView values[] = {small->view(), noise.view()};
    std::promise<Result<Keys>> keys;
    client_->InsertAsync(values, 2, {{"q", 1}, {"u", 1}}, std::move(noise.owner),
                         [&](Result<Keys> result) { keys.set_value(std::move(result)); });
    ASSERT_EQ(keys.get_future().get().value().size(), 2u);
    noise.released.get_future().wait();
    const Sample sample = sampler->Next(Soon()).value();
    std::vector<int64_t> read(numbers.size());
    ASSERT_TRUE(sample.ReadColumn(1, read.data(), read.size() * sizeof(int64_t)).ok());
    EXPECT_TRUE(read == numbers);
  }
}

TEST_P(ClientInsertsTest, ACancelledInsertLetsGoOfItsOwner) {
  Start({QueueOptions("q", 1)});
  OwnedNoise first(1);
  OwnedNoise second(2);
  OwnedNoise* const noises[] = {&first, &second};
  for (OwnedNoise* noise : noises) {
    const TensorView value = noise->view();
    std::promise<Result<Keys>> keys;
    const auto cancel =
        client_->InsertAsync(&value, 1, {{"q", 1}}, std::move(noise->owner),
                             [&](Result<Keys> result) { keys.set_value(std::move(result)); });
    if (noise == &second) cancel();
    EXPECT_EQ(keys.get_future().get().ok(), noise == &first);
  }
  client_.reset();
  for (OwnedNoise* noise : noises) noise->released.get_future().wait();
}

TEST_P(ClientInsertsTest, DeleteCountsWhatWasThere) {
  Start({UniformOptions("t")});
  const auto rows = Rows(4, 1);
  const Keys keys = InsertBatch({rows->view()}, "t", {1, 1, 1, 1}).value();
  EXPECT_EQ(Delete("t", {keys[0], keys[2], keys[0] + 1}).value(), 2);
  EXPECT_EQ(Delete("t", keys).value(), 2);
  EXPECT_EQ(Delete("t", {}).value(), 0);
  EXPECT_EQ(Delete("nope", keys).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace reverb_tf::client

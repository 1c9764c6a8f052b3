// Get, ListItems, Delete and SetRateLimiter against a server, in process and over gRPC.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ClientItemsTest : public testing::TestWithParam<Path> {
 protected:
  void Start(const std::vector<TableOptions>& tables) {
    server_ = StartServer(tables);
    client_ = MakeClient(AddressOf(*server_), GetParam());
  }
  uint64_t Insert(int64_t value, const std::string& table, double priority = 1) {
    const auto array = Scalar(value);
    return client_->Insert(&array->view(), 1, {{table, priority}}, Soon()).value()[0];
  }
  Result<std::vector<Sample>> Get(const std::string& table, const std::vector<uint64_t>& keys) {
    return client_->Get(table, keys.data(), keys.size(), Soon());
  }
  Result<int64_t> Delete(const std::string& table, const std::vector<uint64_t>& keys) {
    return client_->Delete(table, keys.data(), keys.size(), Soon());
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Paths, ClientItemsTest, testing::Values(Path::kLocal, Path::kGrpc),
                         PathName);

TEST_P(ClientItemsTest, GetHasTheDataInTheOrderOfTheKeys) {
  Start({UniformOptions("t")});
  const uint64_t one = Insert(1, "t");
  const uint64_t two = Insert(2, "t", 2.5);
  const auto items = Get("t", {two, one + 1, one, two});
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  ASSERT_EQ(items->size(), 3u);
  EXPECT_THAT(ReadInts((*items)[0]), ElementsAre(2));
  EXPECT_THAT(ReadInts((*items)[1]), ElementsAre(1));
  EXPECT_THAT(ReadInts((*items)[2]), ElementsAre(2));
  const SampleInfo& info = (*items)[0].info();
  EXPECT_EQ(info.key, two);
  EXPECT_EQ(info.priority, 2.5);
  EXPECT_EQ(info.probability, 0);
  EXPECT_EQ(info.times_sampled, 0);
  EXPECT_EQ(info.table_size, 2);
  EXPECT_THAT(Get("t", {}).value(), IsEmpty());
}

// Many responses, of which few are written at a time.
TEST_P(ClientItemsTest, GetOfManyLargeItems) {
  Start({UniformOptions("t")});
  constexpr int64_t kElements = 100'000;
  std::vector<uint64_t> keys;
  for (int64_t i = 0; i < 100; ++i) {
    const TestArray<int64_t> array(DType::kInt64, {kElements},
                                   std::vector<int64_t>(kElements, i * 0x123456789abcd));
    keys.push_back(client_->Insert(&array.view(), 1, {{"t", 1}}, Soon()).value()[0]);
  }
  const auto items = Get("t", keys);
  ASSERT_TRUE(items.ok()) << items.status().ToString();
  ASSERT_EQ(items->size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ((*items)[i].info().key, keys[i]);
    EXPECT_EQ(ReadInts((*items)[i])[kElements - 1], static_cast<int64_t>(i) * 0x123456789abcd);
  }
}

TEST_P(ClientItemsTest, ListAndDelete) {
  Start({UniformOptions("t")});
  std::vector<uint64_t> keys;
  for (int i = 0; i < 10; ++i) keys.push_back(Insert(i, "t", i));
  std::vector<uint64_t> listed;
  uint64_t start = 0;
  do {
    const auto page = client_->ListItems("t", start, 3, Soon());
    ASSERT_TRUE(page.ok()) << page.status().ToString();
    for (const ItemInfo& item : page->items) {
      EXPECT_EQ(item.priority, std::find(keys.begin(), keys.end(), item.key) - keys.begin());
      EXPECT_GT(item.num_bytes, 0);
      EXPECT_GE(item.age, Duration::zero());
      EXPECT_EQ(item.times_sampled, 0);
      listed.push_back(item.key);
    }
    start = page->next;
  } while (start != 0);
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(keys));
  EXPECT_EQ(Delete("t", {keys[0], keys[0] + 1, keys[1]}).value(), 2);
  EXPECT_EQ(Delete("t", {}).value(), 0);
  EXPECT_EQ(client_->ListItems("t", 0, 100, Soon())->items.size(), 8u);
}

TEST_P(ClientItemsTest, RefusesWhatMakesNoSense) {
  Start({UniformOptions("t")});
  const std::string text = "Priority table x was not found";
  for (const Status& status :
       {Get("x", {1}).status(), client_->ListItems("x", 0, 1, Soon()).status(),
        Delete("x", {1}).status(), client_->SetRateLimiter("x", {}, Soon())}) {
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }
  EXPECT_EQ(client_->ListItems("t", 0, 0, Soon()).status().code(), StatusCode::kInvalidArgument);
  const Status limiter = client_->SetRateLimiter("t", {-1, 1, 0, 1}, Soon());
  EXPECT_EQ(limiter.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(limiter.message(), HasSubstr("samples_per_insert is -1"));
}

TEST_P(ClientItemsTest, BlockedInsertGoesOnAfterAChangeOfTheLimiter) {
  Start({QueueOptions("q", 1)});
  Insert(1, "q");
  bool inserted = false;
  std::thread blocked([&] {
    const auto array = Scalar(2);
    inserted = client_->Insert(&array->view(), 1, {{"q", 1}}, Soon()).ok();
  });
  EXPECT_TRUE(client_->SetRateLimiter("q", {1, 1, 0, 2}, Soon()).ok());
  blocked.join();
  EXPECT_TRUE(inserted);
}

}  // namespace
}  // namespace reverb_tf::client

#include "cc/client/inserter.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/testing/fake_transport.h"
#include "cc/core/testing/fake_clock.h"
#include "cc/core/testing/test_items.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

class InserterTest : public testing::Test {
 protected:
  ~InserterTest() override { inserter_->Close(); }

  // An item for each table; its outcome is added to `done_`.
  CancelFunction Insert(const std::vector<std::string>& tables) {
    InsertRequest request;
    const core::TrajectoryRef step =
        core::MakeTestTrajectory({core::MakeTestChunk(++last_chunk_, 1)});
    for (const std::string& table : tables) {
      request.items.push_back({request.tables.size(), 1.0, step});
      request.tables.push_back(table);
    }
    return inserter_->Insert(std::move(request), [this](Result<std::vector<uint64_t>> keys) {
      done_.push_back(keys.status());
    });
  }

  core::FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  std::shared_ptr<Inserter> inserter_ = std::make_shared<Inserter>(std::make_shared<Endpoint>(
      "fake:1", ClientOptions(), &clock_,
      [this] { return Result<std::shared_ptr<Transport>>(transport_); }));
  uint64_t last_chunk_ = 0;
  std::vector<Status> done_;
};

TEST_F(InserterTest, KeepsItsStreamOpenBetweenInserts) {
  for (int i = 0; i < 1000; ++i) {
    Insert({"a"});
    transport_->insert_stream().Confirm(1);
  }
  EXPECT_EQ(done_.size(), 1000u);
  EXPECT_EQ(transport_->insert_streams.size(), 1u);
  EXPECT_TRUE(transport_->insert_stream().open());
}

TEST_F(InserterTest, OtherTablesHaveAStreamOfTheirOwn) {
  for (int i = 0; i < 10; ++i) {
    Insert({"a"});
    Insert({"a", "b"});
  }
  EXPECT_EQ(transport_->insert_streams.size(), 2u);
  for (const auto& stream : transport_->insert_streams) stream->Confirm(20);
  EXPECT_EQ(done_.size(), 20u);
}

TEST_F(InserterTest, ACancelledInsertLeavesTheStreamToOthers) {
  const CancelFunction cancel = Insert({"a"});
  Insert({"a"});
  cancel();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].code(), StatusCode::kCancelled);
  transport_->insert_stream().Confirm(2);
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_TRUE(done_[1].ok());
  EXPECT_EQ(transport_->insert_streams.size(), 1u);
}

}  // namespace
}  // namespace reverb_tf::client

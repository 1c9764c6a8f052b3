#include "cc/client/insert_call.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/testing/fake_transport.h"
#include "cc/core/testing/fake_clock.h"
#include "cc/core/testing/test_items.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

class Hook : public ConfirmationListener {
 public:
  explicit Hook(std::function<void()> hook) : hook_(std::move(hook)) {}
  void OnItemConfirmed() override { hook_(); }

 private:
  const std::function<void()> hook_;
};

class InsertCallTest : public testing::Test {
 protected:
  ~InsertCallTest() override {
    for (const auto& session : sessions_) session->Close();
  }

  std::shared_ptr<InsertSession> NewSession() {
    sessions_.push_back(InsertSession::Create(endpoint_));
    return sessions_.back();
  }

  std::shared_ptr<InsertCall> NewCall(std::vector<TableAndPriority> targets) {
    InsertRequest request;
    const core::TrajectoryRef step = core::MakeTestTrajectory({core::MakeTestChunk(1, 1)});
    for (TableAndPriority& target : targets) {
      request.items.push_back({request.tables.size(), target.priority, step});
      request.tables.push_back(std::move(target.table));
    }
    return std::make_shared<InsertCall>(
        std::move(request),
        [this](Result<std::vector<uint64_t>> result) { result_ = std::move(result); }, nullptr);
  }

  core::FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  std::shared_ptr<Endpoint> endpoint_ =
      std::make_shared<Endpoint>("fake:1", ClientOptions(), &clock_,
                                 [this] { return Result<std::shared_ptr<Transport>>(transport_); });
  std::vector<std::shared_ptr<InsertSession>> sessions_;
  std::optional<Result<std::vector<uint64_t>>> result_;
};

TEST_F(InsertCallTest, EndsWithTheLastConfirmation) {
  const auto call = NewCall({{"a", 1}, {"b", 1}});
  const auto session = NewSession();
  ASSERT_TRUE(call->AddTo(session.get()).ok());
  session->Send();
  transport_->insert_stream().Confirm(1);
  EXPECT_FALSE(result_.has_value());
  transport_->insert_stream().Confirm(1);
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->value().size(), 2u);
}

// A session fails, through another insert's fault, between the moment when it takes note of
// confirmations and the moment when its listeners hear of them; the call is repeated meanwhile.
TEST_F(InsertCallTest, WhatAnEarlierSessionConfirmsDoesNotCountForTheRepetition) {
  const auto call = NewCall({{"a", 1}, {"b", 1}});
  const auto first = NewSession();
  const auto second = NewSession();
  SessionItem other;
  other.table = first->InternTable("a");
  other.trajectory = core::MakeTestTrajectory({core::MakeTestChunk(2, 1)});
  other.listener = std::make_shared<Hook>([&] {
    first->Close();
    ASSERT_TRUE(call->AddTo(second.get()).ok());
    second->Send();
  });
  ASSERT_TRUE(first->Add(std::move(other), {}).ok());
  ASSERT_TRUE(call->AddTo(first.get()).ok());
  first->Send();
  const auto stream = transport_->insert_streams.front();
  stream->Confirm(2);  // the other insert and the call's first item

  ASSERT_EQ(transport_->insert_streams.size(), 2u);
  transport_->insert_stream().Confirm(1);
  EXPECT_FALSE(result_.has_value()) << "the item of table b is not in its table yet";
  transport_->insert_stream().Confirm(1);
  ASSERT_TRUE(result_.has_value());
  EXPECT_TRUE(result_->ok());
}

}  // namespace
}  // namespace reverb_tf::client

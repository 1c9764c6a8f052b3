// A running server and a stub for it.
#ifndef REVERB_TF_SERVER_TESTING_SERVER_FIXTURE_H_
#define REVERB_TF_SERVER_TESTING_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/core/table.h"
#include "cc/server/testing/test_peer.h"

namespace reverb_tf::server::testing {

inline std::unique_ptr<Server> StartServer(std::vector<std::shared_ptr<Table>> tables) {
  ServerOptions options;
  options.tables = std::move(tables);
  return Server::Start(std::move(options)).value();
}

class ServerTest : public ::testing::Test {
 protected:
  ServerTest()
      : table_(MakeTable("t", 1000)),
        queue_(MakeQueue("queue", 2)),
        server_(StartServer({table_, queue_, MakePrioritized()})),
        stub_(deepmind::reverb::ReverbService::NewStub(grpc::CreateChannel(
            "127.0.0.1:" + std::to_string(server_->port()), ClientCredentials()))) {}

  static std::shared_ptr<grpc::ChannelCredentials> ClientCredentials() {
    return grpc::InsecureChannelCredentials();
  }

  static std::shared_ptr<Table> MakePrioritized() {
    TableOptions options;
    options.name = "prioritized";
    options.sampler.kind = SelectorOptions::Kind::kPrioritized;
    options.max_size = 100;
    return Table::Create(std::move(options)).value();
  }

  // The stream ends with the code and a message that contains the text.
  void ExpectInsertError(const InsertStreamRequest& request, grpc::StatusCode code,
                         const std::string& text) {
    const grpc::Status status = InsertCall(stub_.get()).SendOnly(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
  }
  void ExpectSampleError(const SampleStreamRequest& request, grpc::StatusCode code,
                         const std::string& text) {
    const grpc::Status status = SampleCall(stub_.get()).SendOnly(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
  }

  // The server still serves a client that does everything right.
  void ExpectHealthy() {
    InsertCall insert(stub_.get());
    ASSERT_TRUE(insert.stream->Write(OneItem(next_key_)));
    EXPECT_EQ(insert.ReadKeys(1), std::vector<uint64_t>{next_key_});
    ++next_key_;
    insert.stream->WritesDone();
    EXPECT_TRUE(insert.Finish().ok());
    SampleCall sample(stub_.get());
    sample.stream->Write(Samples(1));
    EXPECT_EQ(sample.ReadKeys(1).size(), 1u);
  }

  core::TableInfo Info(const std::shared_ptr<Table>& table) const { return table->impl()->Info(); }

  std::shared_ptr<Table> table_;
  std::shared_ptr<Table> queue_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<deepmind::reverb::ReverbService::Stub> stub_;
  uint64_t next_key_ = 1000000;
};

}  // namespace reverb_tf::server::testing

#endif  // REVERB_TF_SERVER_TESTING_SERVER_FIXTURE_H_

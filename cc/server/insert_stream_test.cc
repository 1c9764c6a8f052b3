// InsertStream over real gRPC on the loopback.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "cc/server/testing/server_fixture.h"

namespace reverb_tf::server {
namespace {

using testing::FillItem;
using testing::InsertCall;
using testing::MakeChunk;
using testing::OneItem;
using testing::SampleCall;
using testing::Samples;
using testing::ServerTest;
using testing::WaitUntil;

using InsertStreamTest = ServerTest;

TEST_F(InsertStreamTest, EveryItemIsAcknowledgedOnceUpdatesIncluded) {
  InsertCall insert(stub_.get());
  std::thread writer([&insert] {
    for (uint64_t i = 0; i < 500; ++i) insert.stream->Write(OneItem(i / 2 + 1));
  });
  std::vector<uint64_t> keys = insert.ReadKeys(500);
  writer.join();
  std::sort(keys.begin(), keys.end());
  ASSERT_EQ(keys.size(), 500u);
  for (uint64_t i = 0; i < 500; ++i) EXPECT_EQ(keys[i], i / 2 + 1);
  EXPECT_EQ(Info(table_).current_size, 250);
}

TEST_F(InsertStreamTest, ManyItemsInAMessage) {
  testing::InsertStreamRequest request;
  *request.add_chunks() = MakeChunk(1, 0);
  for (uint64_t key = 1; key <= 900; ++key) FillItem(key, "t", 1, 1, request.add_items());
  InsertCall insert(stub_.get());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(900).size(), 900u);
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(5000));
  EXPECT_EQ(sample.ReadKeys(5000).size(), 5000u);
  EXPECT_EQ(Info(table_).samples, 5000);
}

TEST_F(InsertStreamTest, LargeMessages) {
  InsertCall insert(stub_.get());
  for (uint64_t key = 1; key <= 3; ++key) insert.stream->Write(OneItem(key, "t", 1, 20 << 20));
  EXPECT_EQ(insert.ReadKeys(3).size(), 3u);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  const auto stub = deepmind::reverb::ReverbService::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(server_->port()), ClientCredentials(), arguments));
  SampleCall sample(stub.get());
  sample.stream->Write(Samples(4));
  EXPECT_EQ(sample.ReadKeys(4).size(), 4u);
}

TEST_F(InsertStreamTest, BadInsertsEndTheirStreamOnly) {
  ExpectInsertError({}, grpc::INVALID_ARGUMENT, "neither chunks nor items");
  testing::InsertStreamRequest keep_only;
  keep_only.add_keep_chunk_keys(1);
  ExpectInsertError(keep_only, grpc::INVALID_ARGUMENT, "neither chunks nor items");
  ExpectInsertError(OneItem(1, "nowhere"), grpc::NOT_FOUND, "Priority table nowhere was not found");
  auto request = OneItem(1);
  request.clear_chunks();
  ExpectInsertError(request, grpc::INTERNAL, "Could not find sequence chunk 1.");
  request = OneItem(1);
  request.mutable_items(0)->clear_flat_trajectory();
  ExpectInsertError(request, grpc::INVALID_ARGUMENT, "");
  request = OneItem(1);
  request.add_keep_chunk_keys(5);
  ExpectInsertError(request, grpc::FAILED_PRECONDITION, "5");
  request = OneItem(1);
  request.add_keep_chunk_keys(1);
  request.add_keep_chunk_keys(1);
  ExpectInsertError(request, grpc::FAILED_PRECONDITION, "twice");
  for (const double priority :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ExpectInsertError(OneItem(1, "prioritized", priority), grpc::INVALID_ARGUMENT, "prioritized");
  }
  ExpectHealthy();
}

TEST_F(InsertStreamTest, ItemsBeforeABadOneAreAcceptedAndAcknowledged) {
  testing::InsertStreamRequest request = OneItem(1);
  FillItem(2, "t", 1, 1, request.add_items());
  FillItem(3, "nowhere", 1, 1, request.add_items());
  FillItem(4, "t", 1, 1, request.add_items());
  InsertCall insert(stub_.get());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(10), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(insert.Finish().error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Info(table_).current_size, 2);
}

TEST_F(InsertStreamTest, KeepListsOfMessagesWithoutItemsAreIgnored) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest chunk_only;
  *chunk_only.add_chunks() = MakeChunk(5, 1);
  chunk_only.add_keep_chunk_keys(12345);
  insert.stream->Write(chunk_only);
  // The chunk is held, may be sent again, and goes with the first keep list that counts.
  testing::InsertStreamRequest items = chunk_only;
  items.clear_keep_chunk_keys();
  FillItem(1, "t", 5, 1, items.add_items());
  insert.stream->Write(items);
  EXPECT_EQ(insert.ReadKeys(1).size(), 1u);
  items.clear_chunks();
  insert.stream->Write(items);
  EXPECT_EQ(insert.Finish().error_code(), grpc::INTERNAL);
}

TEST_F(InsertStreamTest, CancelledInsertStreamDropsWhatIsParked) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request = OneItem(1, "queue");
  for (uint64_t key = 2; key <= 6; ++key) FillItem(key, "queue", 1, 1, request.add_items());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(2).size(), 2u);
  EXPECT_EQ(Info(queue_).waiting_inserts, 4);
  insert.context.TryCancel();
  EXPECT_EQ(insert.Finish().error_code(), grpc::CANCELLED);
  WaitUntil([this] { return Info(queue_).waiting_inserts == 0; });
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(2, "queue"));
  EXPECT_EQ(sample.ReadKeys(2), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(Info(queue_).current_size, 0);
}

TEST_F(InsertStreamTest, HalfClosedInsertStreamEndsAndLeavesWhatIsParked) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request = OneItem(1, "t");
  FillItem(2, "queue", 1, 1, request.add_items());
  FillItem(3, "queue", 1, 1, request.add_items());
  insert.stream->Write(request);
  EXPECT_EQ(insert.ReadKeys(3).size(), 3u);
  // One item over the queue's size: parked, and as many as its soft limit allows before reading
  // pauses.
  insert.stream->Write(OneItem(4, "queue"));
  insert.stream->WritesDone();
  EXPECT_TRUE(insert.Finish().ok());
  EXPECT_EQ(Info(queue_).waiting_inserts, 1);
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(3, "queue"));
  EXPECT_EQ(sample.ReadKeys(3), (std::vector<uint64_t>{2, 3, 4}));
}

TEST_F(InsertStreamTest, ReadingPausesWhileTheTableHasTooMuchParked) {
  InsertCall insert(stub_.get());
  for (uint64_t key = 1; key <= 12; ++key) insert.stream->Write(OneItem(key, "queue"));
  // Each sample lets one insert pass, which makes the stream read on; all arrive in order.
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(10, "queue"));
  EXPECT_EQ(sample.ReadKeys(10), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(insert.ReadKeys(12).size(), 12u);
  insert.stream->WritesDone();  // not earlier: a half-closed stream need not wait for the table
  EXPECT_TRUE(insert.Finish().ok());
}

}  // namespace
}  // namespace reverb_tf::server

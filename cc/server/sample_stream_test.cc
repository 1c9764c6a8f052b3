// SampleStream over real gRPC on the loopback.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

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

constexpr char kTimeoutText[] =
    "Rate Limiter: Timeout exceeded before the right to insert was acquired.";

using SampleStreamTest = ServerTest;

TEST_F(SampleStreamTest, InsertsAndSamples) {
  InsertCall insert(stub_.get());
  testing::InsertStreamRequest request;
  *request.add_chunks() = MakeChunk(7, 100, 5);
  FillItem(1, "t", 7, 0.5, request.add_items(), 3);
  FillItem(2, "queue", 7, 2, request.add_items(), 5);
  request.add_keep_chunk_keys(7);
  ASSERT_TRUE(insert.stream->Write(request));
  std::vector<uint64_t> keys = insert.ReadKeys(2);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<uint64_t>{1, 2}));

  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(2));
  testing::SampleStreamResponse response;
  std::vector<testing::SampleStreamResponse::SampleEntry> entries;
  while (entries.size() < 2 && sample.stream->Read(&response)) {
    entries.insert(entries.end(), response.entries().begin(), response.entries().end());
  }
  ASSERT_EQ(entries.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const auto& info = entries[i].info();
    EXPECT_EQ(info.item().key(), 1u);
    EXPECT_EQ(info.item().table(), "t");
    EXPECT_EQ(info.item().priority(), 0.5);
    EXPECT_EQ(info.item().times_sampled(), i + 1);
    EXPECT_GT(info.item().inserted_at().seconds(), 1600000000);
    EXPECT_EQ(info.item().flat_trajectory().columns(0).chunk_slices(0).length(), 3);
    EXPECT_EQ(info.probability(), 1);
    EXPECT_EQ(info.table_size(), 1);
    ASSERT_EQ(entries[i].data_size(), 1);
    EXPECT_EQ(entries[i].data(0).SerializeAsString(), MakeChunk(7, 100, 5).SerializeAsString());
    EXPECT_TRUE(entries[i].end_of_sequence());
  }
  // Another table in the next request of the same stream.
  sample.stream->Write(Samples(1, "queue"));
  EXPECT_EQ(sample.ReadKeys(1), std::vector<uint64_t>{2});
  sample.stream->WritesDone();
  EXPECT_TRUE(sample.Finish().ok());
}

TEST_F(SampleStreamTest, BadSampleRequestsEndTheirStreamOnly) {
  for (const int64_t n : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    ExpectSampleError(Samples(n), grpc::INVALID_ARGUMENT, "num_samples");
  }
  ExpectSampleError(Samples(1, "nowhere"), grpc::NOT_FOUND, "Priority table nowhere was not found");
  ExpectHealthy();
}

TEST_F(SampleStreamTest, SampleTimeouts) {
  auto request = Samples(1);
  request.mutable_rate_limiter_timeout()->set_milliseconds(1);
  ExpectSampleError(request, grpc::DEADLINE_EXCEEDED, kTimeoutText);
  request.set_rate_limiter_timeout_nanos(0);
  request.mutable_rate_limiter_timeout()->set_milliseconds(3600 * 1000);
  ExpectSampleError(request, grpc::DEADLINE_EXCEEDED, kTimeoutText);
  EXPECT_EQ(Info(table_).waiting_samples, 0);
  ExpectHealthy();
}

TEST_F(SampleStreamTest, WithoutATimeoutSamplesWait) {
  for (const int64_t millis : {0, -1}) {
    SampleCall sample(stub_.get());
    auto request = Samples(1, "queue");
    request.mutable_rate_limiter_timeout()->set_milliseconds(millis);
    sample.stream->Write(request);
    WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
    InsertCall insert(stub_.get());
    insert.stream->Write(OneItem(3, "queue"));
    EXPECT_EQ(sample.ReadKeys(1), std::vector<uint64_t>{3});
  }
}

TEST_F(SampleStreamTest, HalfClosedSampleStreamStillDelivers) {
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(2, "queue"));
  sample.stream->WritesDone();
  WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1, "queue"));
  insert.stream->Write(OneItem(2, "queue"));
  EXPECT_EQ(sample.ReadKeys(2), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(sample.Finish().ok());
}

TEST_F(SampleStreamTest, CancelledSampleStreamTakesNothing) {
  SampleCall sample(stub_.get());
  sample.stream->Write(Samples(5, "queue"));
  WaitUntil([this] { return Info(queue_).waiting_samples == 1; });
  sample.context.TryCancel();
  EXPECT_EQ(sample.Finish().error_code(), grpc::CANCELLED);
  WaitUntil([this] { return Info(queue_).waiting_samples == 0; });
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1, "queue"));
  EXPECT_EQ(insert.ReadKeys(1).size(), 1u);
  EXPECT_EQ(Info(queue_).samples, 0);
  EXPECT_EQ(Info(queue_).current_size, 1);
}

TEST_F(SampleStreamTest, VersionsAreToldWhereTheyAreAskedFor) {
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1));
  EXPECT_EQ(insert.ReadKeys(1), std::vector<uint64_t>{1});
  SampleCall sample(stub_.get());
  testing::SampleStreamResponse response;
  auto request = Samples(1);
  sample.stream->Write(request);
  ASSERT_TRUE(sample.stream->Read(&response));
  EXPECT_FALSE(response.entries(0).info().has_table_version());
  request.set_min_version(0);
  sample.stream->Write(request);
  ASSERT_TRUE(sample.stream->Read(&response));
  EXPECT_EQ(response.entries(0).info().table_version(), 1);
  EXPECT_EQ(Info(table_).version, 1);
}

TEST_F(SampleStreamTest, RequestWaitsForAVersion) {
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1));
  EXPECT_EQ(insert.ReadKeys(1), std::vector<uint64_t>{1});
  SampleCall sample(stub_.get());
  auto request = Samples(1);
  request.set_min_version(2);
  sample.stream->Write(request);
  WaitUntil([this] { return Info(table_).waiting_samples == 1; });
  insert.stream->Write(OneItem(2));
  testing::SampleStreamResponse response;
  ASSERT_TRUE(sample.stream->Read(&response));
  EXPECT_EQ(response.entries(0).info().table_version(), 2);
}

TEST_F(SampleStreamTest, VersionsThatAreNotThereOrNotWanted) {
  InsertCall insert(stub_.get());
  insert.stream->Write(OneItem(1));
  EXPECT_EQ(insert.ReadKeys(1), std::vector<uint64_t>{1});
  auto request = Samples(1);
  request.set_unless_version(1);
  ExpectSampleError(request, grpc::DEADLINE_EXCEEDED, "nothing but version 1");
  request.clear_unless_version();
  request.set_min_version(9);
  request.set_rate_limiter_timeout_nanos(0);
  ExpectSampleError(request, grpc::DEADLINE_EXCEEDED, "waits for version 9; there is version 1");
  EXPECT_EQ(Info(table_).samples, 0);
  ExpectHealthy();
}

}  // namespace
}  // namespace reverb_tf::server

#include "cc/wire/messages.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "cc/wire/mutate_request.h"
#include "cc/wire/testing/random_columns.h"
#include "proto/reverb_service.pb.h"

namespace reverb_tf::wire {
namespace {

using testing::FloatChunk;

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string result;
  for (const grpc::Slice& slice : slices) {
    result.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return result;
}

// In pieces of `piece` bytes.
grpc::ByteBuffer ToBuffer(const std::string& bytes, size_t piece) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += piece) slices.emplace_back(bytes.substr(at, piece));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

core::TrajectoryRef MakeTrajectory(std::vector<core::ChunkRef> chunks,
                                   const std::vector<core::Column>& columns,
                                   const std::vector<core::ChunkSlice>& slices) {
  return core::Trajectory::Create(std::move(chunks), columns, slices).value();
}

class MessagesTest : public ::testing::Test {
 protected:
  MessagesTest() {
    for (uint64_t key : {10, 11, 12}) chunks_[key] = FloatChunk(&rng_, key, 4, 3);
    chunks_[99] = FloatChunk(&rng_, 99, 2, 100000);
    item_.key = ~uint64_t{0} - 1;
    item_.priority = 0.25;
    item_.times_sampled = 3;
    item_.trajectory = MakeTrajectory({chunks_[10], chunks_[99], chunks_[11]},
                                      {{0, 1, true}, {1, 1, false}, {2, 2, false}},
                                      {{0, 3, 1, 0}, {1, 0, 2, 0}, {2, 1, 3, 0}, {0, 0, 4, 0}});
  }

  ChunkLookup Lookup() {
    return [this](uint64_t key) {
      const auto it = chunks_.find(key);
      return it == chunks_.end() ? core::ChunkRef() : it->second;
    };
  }

  core::SampledItem Sample(core::TrajectoryRef trajectory) const {
    core::SampledItem sample;
    sample.key = item_.key;
    sample.probability = 0.125;
    sample.priority = item_.priority;
    sample.table_size = 17;
    sample.inserted_at_nanos = 1700000000000000123;
    sample.times_sampled = 4;
    sample.rate_limited = true;
    sample.trajectory = std::move(trajectory);
    return sample;
  }

  std::mt19937_64 rng_{1};
  std::unordered_map<uint64_t, core::ChunkRef> chunks_;
  core::NewItem item_;
};

std::string Bytes(const core::Chunk& chunk) {
  if (chunk.pieces() == nullptr) return std::string(chunk.bytes());
  std::string bytes;
  for (const std::string_view view : chunk.pieces()->views()) bytes += view;
  return bytes;
}

void ExpectSame(const core::Trajectory& a, const core::Trajectory& b) {
  ASSERT_EQ(a.num_chunks(), b.num_chunks());
  for (int i = 0; i < a.num_chunks(); ++i) {
    EXPECT_TRUE(Bytes(*a.chunk(i)) == Bytes(*b.chunk(i)));
  }
  ASSERT_EQ(a.num_columns(), b.num_columns());
  for (int i = 0; i < a.num_columns(); ++i) {
    EXPECT_EQ(a.column(i).first_slice, b.column(i).first_slice);
    EXPECT_EQ(a.column(i).num_slices, b.column(i).num_slices);
    EXPECT_EQ(a.column(i).squeeze, b.column(i).squeeze);
  }
  ASSERT_EQ(a.num_slices(), b.num_slices());
  for (int i = 0; i < a.num_slices(); ++i) {
    EXPECT_EQ(a.slice(i).chunk, b.slice(i).chunk);
    EXPECT_EQ(a.slice(i).offset, b.slice(i).offset);
    EXPECT_EQ(a.slice(i).length, b.slice(i).length);
    EXPECT_EQ(a.slice(i).tensor, b.slice(i).tensor);
  }
}

TEST_F(MessagesTest, InsertRequestRoundTrip) {
  InsertRequestWriter writer;
  EXPECT_TRUE(writer.empty());
  writer.AddChunk(chunks_[10]);
  writer.AddChunk(chunks_[99]);
  writer.AddItem("a table", item_);
  writer.AddKeepChunkKey(10);
  writer.AddKeepChunkKey(0);
  const size_t size = writer.num_bytes();
  const std::string bytes = ToString(writer.Finish());
  EXPECT_EQ(bytes.size(), size);
  EXPECT_TRUE(writer.empty());

  deepmind::reverb::InsertStreamRequest message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.chunks_size(), 2);
  EXPECT_EQ(message.items(0).table(), "a table");
  EXPECT_EQ(message.items(0).priority(), 0.25);

  for (const size_t piece : {size_t{1} << 30, size_t{4096}, size_t{7}}) {
    InsertRequestReader reader = InsertRequestReader::Parse(ToBuffer(bytes, piece)).value();
    ASSERT_EQ(reader.chunks().size(), 2u);
    EXPECT_EQ(reader.chunks()[1]->bytes(), chunks_[99]->bytes());
    EXPECT_EQ(reader.keep_chunk_keys(), (std::vector<uint64_t>{10, 0}));
    ASSERT_EQ(reader.num_items(), 1u);
    // Still valid after a move.
    const InsertRequestReader moved = std::move(reader);
    const ParsedItem parsed = moved.ParseItem(0, Lookup()).value();
    EXPECT_EQ(parsed.table, "a table");
    EXPECT_EQ(parsed.item.key, item_.key);
    EXPECT_EQ(parsed.item.priority, item_.priority);
    EXPECT_EQ(parsed.item.times_sampled, 3);
    ExpectSame(*parsed.item.trajectory, *item_.trajectory);
  }
}

TEST_F(MessagesTest, ProtobufWritesAgainBytesThatReadTheSame) {
  InsertRequestWriter writer;
  writer.AddItem("t", item_);
  deepmind::reverb::InsertStreamRequest message;
  ASSERT_TRUE(message.ParseFromString(ToString(writer.Finish())));
  for (uint64_t key : {1, 2, 300}) message.add_keep_chunk_keys(key);
  const auto reader = InsertRequestReader::Parse(ToBuffer(message.SerializeAsString(), 50)).value();
  EXPECT_EQ(reader.keep_chunk_keys(), (std::vector<uint64_t>{1, 2, 300}));
  ExpectSame(*reader.ParseItem(0, Lookup()).value().item.trajectory, *item_.trajectory);
}

TEST_F(MessagesTest, BadItems) {
  using deepmind::reverb::PrioritizedItem;
  InsertRequestWriter writer;
  writer.AddItem("t", item_);
  deepmind::reverb::InsertStreamRequest message;
  ASSERT_TRUE(message.ParseFromString(ToString(writer.Finish())));
  const PrioritizedItem good = message.items(0);
  const auto error = [this](const PrioritizedItem& item) {
    const std::string bytes = item.SerializeAsString();
    return ParseItem(Cursor(bytes), Lookup()).status();
  };
  EXPECT_TRUE(error(good).ok());
  const auto slice = [](PrioritizedItem* item) {
    return item->mutable_flat_trajectory()->mutable_columns(2)->mutable_chunk_slices(0);
  };

  PrioritizedItem bad = good;
  slice(&bad)->set_chunk_key(12345);
  EXPECT_EQ(error(bad).code(), StatusCode::kInternal);
  EXPECT_EQ(error(bad).message(), "Could not find sequence chunk 12345.");
  for (const auto& [offset, length] : std::vector<std::pair<int, int>>{
           {1, 4}, {4, 1}, {-1, 1}, {0, 0}, {0, -1}, {2147483647, 2147483647}}) {
    bad = good;
    slice(&bad)->set_offset(offset);
    slice(&bad)->set_length(length);
    EXPECT_EQ(error(bad).code(), StatusCode::kInvalidArgument) << offset << " " << length;
  }
  for (const int index : {1, -1, 2147483647}) {
    bad = good;
    slice(&bad)->set_index(index);
    EXPECT_EQ(error(bad).code(), StatusCode::kInvalidArgument) << index;
  }
  for (const int times_sampled : {-1, 2147483647}) {
    bad = good;
    bad.set_times_sampled(times_sampled);
    EXPECT_EQ(error(bad).code(), StatusCode::kInvalidArgument) << times_sampled;
  }
  bad = good;
  bad.mutable_flat_trajectory()->mutable_columns(1)->set_squeeze(true);
  EXPECT_EQ(error(bad).code(), StatusCode::kInvalidArgument);
  bad = good;
  bad.mutable_flat_trajectory()->mutable_columns(1)->clear_chunk_slices();
  EXPECT_EQ(error(bad).code(), StatusCode::kInvalidArgument);
  bad = good;
  bad.clear_flat_trajectory();
  EXPECT_EQ(error(bad).code(), StatusCode::kInvalidArgument);
  const std::string not_utf8("\x12\x02\xc3\x28", 4);
  EXPECT_EQ(ParseItem(Cursor(not_utf8), Lookup()).status().message(),
            "the table's name is not valid UTF-8");
}

TEST_F(MessagesTest, ManyChunksInOneItem) {
  std::vector<core::ChunkRef> chunks;
  std::vector<core::Column> columns = {{0, 200, false}, {200, 200, false}};
  std::vector<core::ChunkSlice> slices;
  for (uint32_t i = 0; i < 200; ++i) {
    chunks.push_back(FloatChunk(&rng_, 1000 + i, 2, 2));
    chunks_[1000 + i] = chunks.back();
    slices.push_back({i, 0, 1, 0});
  }
  for (uint32_t i = 0; i < 200; ++i) slices.push_back({199 - i, 1, 1, 0});
  item_.trajectory = MakeTrajectory(chunks, columns, slices);
  InsertRequestWriter writer;
  writer.AddItem("t", item_);
  const auto reader = InsertRequestReader::Parse(writer.Finish()).value();
  ExpectSame(*reader.ParseItem(0, Lookup()).value().item.trajectory, *item_.trajectory);
}

TEST_F(MessagesTest, InsertResponseRoundTrip) {
  const std::vector<uint64_t> keys = {0, 1, 127, 128, ~uint64_t{0}};
  const grpc::ByteBuffer buffer = SerializeInsertResponse(keys.data(), keys.size());
  std::vector<uint64_t> read;
  ASSERT_TRUE(ParseInsertResponse(buffer, &read).ok());
  EXPECT_EQ(read, keys);
  // Not packed.
  ASSERT_TRUE(ParseInsertResponse(ToBuffer(std::string("\x08\x05\x08\x07", 4), 1), &read).ok());
  EXPECT_EQ(read.size(), 7u);
  EXPECT_FALSE(ParseInsertResponse(ToBuffer("\x08", 1), &read).ok());
}

TEST_F(MessagesTest, SamplesRoundTrip) {
  SampleResponseWriter writer;
  std::vector<grpc::ByteBuffer> messages;
  const core::SampledItem sample = Sample(item_.trajectory);
  for (int i = 0; i < 3; ++i) writer.AddSample("tt", sample, &messages);
  ASSERT_FALSE(writer.empty());
  messages.push_back(writer.Finish());

  SampleResponseReader reader;
  std::vector<core::SampledItem> samples;
  for (const grpc::ByteBuffer& message : messages) {
    ASSERT_TRUE(reader.Read(ToBuffer(ToString(message), 1000), &samples).ok());
  }
  EXPECT_FALSE(reader.in_sample());
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2].key, sample.key);
  EXPECT_EQ(samples[2].probability, sample.probability);
  EXPECT_EQ(samples[2].priority, sample.priority);
  EXPECT_EQ(samples[2].table_size, 17);
  EXPECT_EQ(samples[2].inserted_at_nanos, sample.inserted_at_nanos);
  EXPECT_EQ(samples[2].times_sampled, 4);
  EXPECT_TRUE(samples[2].rate_limited);
  ExpectSame(*samples[2].trajectory, *item_.trajectory);
  deepmind::reverb::SampleStreamResponse message;
  ASSERT_TRUE(message.ParseFromString(ToString(messages[0])));
  EXPECT_EQ(message.entries(0).info().item().table(), "tt");
  EXPECT_EQ(message.entries(0).info().item().inserted_at().nanos(), 123);
  EXPECT_TRUE(message.entries(0).end_of_sequence());
}

TEST_F(MessagesTest, SampleWithAVersion) {
  for (const int64_t version : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
    core::SampledItem sample = Sample(item_.trajectory);
    sample.version = version;
    SampleResponseWriter writer;
    std::vector<grpc::ByteBuffer> messages;
    writer.AddSample("t", sample, &messages);
    const grpc::ByteBuffer message = writer.Finish();
    deepmind::reverb::SampleStreamResponse parsed;
    ASSERT_TRUE(parsed.ParseFromString(ToString(message)));
    EXPECT_EQ(parsed.entries(0).info().has_table_version(), version >= 0);
    std::vector<core::SampledItem> samples;
    ASSERT_TRUE(SampleResponseReader().Read(message, &samples).ok());
    ASSERT_EQ(samples.size(), 1u);
    EXPECT_EQ(samples[0].version, version);
  }
}

// Responses for different callers refer to the memory of the same chunk.
TEST_F(MessagesTest, LargeChunksAreNotCopiedIntoResponses) {
  const core::ChunkRef chunk = FloatChunk(&rng_, 1, 1, 400000);
  const core::SampledItem sample = Sample(MakeTrajectory({chunk}, {{0, 1, false}}, {{0, 0, 1, 0}}));
  int references = 0;
  for (int i = 0; i < 8; ++i) {
    SampleResponseWriter writer;
    std::vector<grpc::ByteBuffer> messages;
    writer.AddSample("t", sample, &messages);
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(writer.Finish().Dump(&slices).ok());
    for (const grpc::Slice& slice : slices) {
      references += slice.begin() == reinterpret_cast<const uint8_t*>(chunk->bytes().data());
    }
  }
  EXPECT_EQ(references, 8);
}

// Five chunks of 1.6 MB: entries [c0, c1], [c2, c3], [c4 end], and the next sample begins in the
// response of c4.
TEST_F(MessagesTest, LargeSamplesAreSplit) {
  std::vector<core::ChunkRef> chunks;
  std::vector<core::ChunkSlice> slices;
  for (uint32_t i = 0; i < 5; ++i) {
    chunks.push_back(FloatChunk(&rng_, i + 1, 1, 400000));
    slices.push_back({i, 0, 1, 0});
  }
  const core::SampledItem sample = Sample(MakeTrajectory(chunks, {{0, 5, false}}, slices));
  SampleResponseWriter writer;
  std::vector<grpc::ByteBuffer> messages;
  writer.AddSample("t", sample, &messages);
  writer.AddSample("t", sample, &messages);
  if (!writer.empty()) messages.push_back(writer.Finish());

  std::vector<std::vector<int>> chunks_per_entry;
  SampleResponseReader reader;
  std::vector<core::SampledItem> samples;
  for (const grpc::ByteBuffer& buffer : messages) {
    deepmind::reverb::SampleStreamResponse message;
    ASSERT_TRUE(message.ParseFromString(ToString(buffer)));
    chunks_per_entry.emplace_back();
    for (const auto& entry : message.entries()) {
      chunks_per_entry.back().push_back(entry.data_size());
    }
    ASSERT_TRUE(reader.Read(buffer, &samples).ok());
  }
  EXPECT_EQ(chunks_per_entry, (std::vector<std::vector<int>>{{2}, {2}, {1, 1}, {2}, {2}}));
  ASSERT_EQ(samples.size(), 2u);
  ExpectSame(*samples[1].trajectory, *sample.trajectory);
}

// gRPC keeps slices of a few bytes in the grpc_slice itself, which moves and goes with the message.
TEST_F(MessagesTest, LargeChunksOutliveMessagesOfTinyPieces) {
  const core::ChunkRef chunk = FloatChunk(&rng_, 1, 1, 40000);
  const core::SampledItem sample = Sample(MakeTrajectory({chunk}, {{0, 1, false}}, {{0, 0, 1, 0}}));
  SampleResponseWriter writer;
  std::vector<grpc::ByteBuffer> messages;
  writer.AddSample("t", sample, &messages);
  const std::string bytes = ToString(writer.Finish());
  for (const size_t piece : {7, 20, 23, 24, 100}) {
    std::vector<core::SampledItem> samples;
    ASSERT_TRUE(SampleResponseReader().Read(ToBuffer(bytes, piece), &samples).ok());
    ASSERT_EQ(samples.size(), 1u);
    ASSERT_NE(samples[0].trajectory->chunk(0)->pieces(), nullptr);
    const grpc::ByteBuffer overwrites = ToBuffer(std::string(bytes.size(), 'x'), piece);
    std::vector<grpc::Slice> what_was_freed;
    ASSERT_TRUE(overwrites.Dump(&what_was_freed).ok());
    ExpectSame(*samples[0].trajectory, *sample.trajectory);
  }
}

TEST_F(MessagesTest, SampleReaderRefusesBrokenStreams) {
  SampleResponseWriter writer;
  std::vector<grpc::ByteBuffer> messages;
  writer.AddSample("t", Sample(item_.trajectory), &messages);
  deepmind::reverb::SampleStreamResponse good;
  ASSERT_TRUE(good.ParseFromString(ToString(writer.Finish())));
  const auto error = [](const deepmind::reverb::SampleStreamResponse& message) {
    SampleResponseReader reader;
    std::vector<core::SampledItem> samples;
    return reader.Read(ToBuffer(message.SerializeAsString(), 4096), &samples).code();
  };
  EXPECT_EQ(error(good), StatusCode::kOk);
  auto bad = good;
  bad.mutable_entries(0)->clear_info();
  EXPECT_EQ(error(bad), StatusCode::kInternal);
  bad = good;
  bad.mutable_entries(0)->mutable_data()->RemoveLast();
  EXPECT_EQ(error(bad), StatusCode::kInternal);
  bad = good;
  bad.mutable_entries(0)->mutable_data(0)->mutable_data()->mutable_tensors(0)->set_dtype(
      tensorflow_compat::DT_RESOURCE);
  EXPECT_EQ(error(bad), StatusCode::kInvalidArgument);
}

TEST_F(MessagesTest, TruncationAndDamageAreHarmless) {
  InsertRequestWriter insert;
  insert.AddChunk(chunks_[10]);
  insert.AddItem("t", item_);
  insert.AddKeepChunkKey(10);
  const std::string request = ToString(insert.Finish());
  item_.trajectory = MakeTrajectory({chunks_[10]}, {{0, 1, false}}, {{0, 0, 4, 0}});
  SampleResponseWriter sample;
  std::vector<grpc::ByteBuffer> messages;
  sample.AddSample("t", Sample(item_.trajectory), &messages);
  const std::string response = ToString(sample.Finish());

  const auto read = [this](const std::string& bytes) {
    const grpc::ByteBuffer buffer = ToBuffer(bytes, 64);
    Result<InsertRequestReader> reader = InsertRequestReader::Parse(buffer);
    for (size_t i = 0; reader.ok() && i < reader->num_items(); ++i) {
      reader->ParseItem(i, Lookup()).status().IgnoreError();
    }
    SampleResponseReader samples;
    std::vector<core::SampledItem> complete;
    samples.Read(buffer, &complete).IgnoreError();
    std::vector<uint64_t> keys;
    ParseInsertResponse(buffer, &keys).IgnoreError();
  };
  for (const std::string& bytes : {request, response}) {
    for (size_t n = 0; n < bytes.size(); ++n) read(bytes.substr(0, n));
    for (int i = 0; i < 5000; ++i) {
      std::string damaged = bytes;
      for (size_t flips = rng_() % 4 + 1; flips > 0; --flips) {
        damaged[rng_() % damaged.size()] = static_cast<char>(rng_());
      }
      read(damaged);
    }
  }
}

TEST(MutateRequestTest, RoundTrip) {
  const std::vector<core::PriorityUpdate> updates = {
      {0, 0}, {~uint64_t{0}, -1.5}, {300, std::numeric_limits<double>::infinity()}};
  const std::vector<uint64_t> deletes = {0, 7, ~uint64_t{0}};
  const std::string bytes = ToString(SerializeMutateRequest(
      "a table", updates.data(), updates.size(), deletes.data(), deletes.size()));
  deepmind::reverb::MutatePrioritiesRequest message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.table(), "a table");
  EXPECT_EQ(message.updates(1).priority(), -1.5);
  EXPECT_EQ(message.delete_keys(2), ~uint64_t{0});
  const MutateRequest read = ParseMutateRequest(ToBuffer(bytes, 3)).value();
  EXPECT_EQ(read.table, "a table");
  ASSERT_EQ(read.updates.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.updates[i].key, updates[i].key);
    EXPECT_EQ(read.updates[i].priority, updates[i].priority);
  }
  EXPECT_EQ(read.deletes, deletes);
  for (size_t n = 0; n < bytes.size(); ++n) {
    ParseMutateRequest(ToBuffer(bytes.substr(0, n), 5)).status().IgnoreError();
  }
  EXPECT_FALSE(ParseMutateRequest(ToBuffer(bytes.substr(0, bytes.size() - 1), 9)).ok());
  EXPECT_FALSE(ParseMutateRequest(ToBuffer(std::string("\x0a\x01\xff", 3), 9)).ok());
}

TEST(CursorTest, Utf8) {
  EXPECT_TRUE(IsUtf8("plain"));
  EXPECT_TRUE(IsUtf8("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace reverb_tf::wire

// Checkpoints that older versions of dm-reverb have written.
#include <gmock/gmock.h>

#include <filesystem>

#include "cc/checkpoint/layout.h"
#include "cc/checkpoint/record_writer.h"
#include "cc/checkpoint/testing/test_tables.h"
#include "proto/checkpoint.pb.h"
#include "proto/schema.pb.h"

namespace reverb_tf::checkpoint {
namespace {

namespace pb = ::deepmind::reverb;
using testing::CheckpointTest;
using ::testing::HasSubstr;
using testing::Load;
using testing::MakeChunk;

class OldFormsTest : public CheckpointTest {
 protected:
  OldFormsTest() {
    table_.set_table_name("t");
    table_.mutable_sampler()->set_fifo(true);
    table_.mutable_remover()->mutable_heap()->set_min_heap(true);
    table_.set_max_size(10);
    table_.mutable_rate_limiter()->set_samples_per_insert(1);
    table_.mutable_rate_limiter()->set_min_size_to_sample(1);
    table_.mutable_rate_limiter()->set_insert_count(2);
  }

  pb::ChunkData Chunk(uint64_t key) {
    pb::ChunkData chunk;
    const core::ChunkRef made = MakeChunk(key, key, 3);
    chunk.ParseFromString(std::string(made->bytes()));
    return chunk;
  }

  // Steps 1 to 4 of the six in chunks 1 and 2.
  static pb::PrioritizedItem OldItem(uint64_t key, int64_t seconds) {
    pb::PrioritizedItem item;
    item.set_key(key);
    item.set_table("t");
    item.set_priority(0.5);
    item.add_deprecated_chunk_keys(1);
    item.add_deprecated_chunk_keys(2);
    item.mutable_deprecated_sequence_range()->set_offset(1);
    item.mutable_deprecated_sequence_range()->set_length(4);
    item.mutable_inserted_at()->set_seconds(seconds);
    return item;
  }

  template <typename Message>
  void WriteFile(const char* name, const std::vector<Message>& messages,
                 RecordWriter::Framing framing) {
    const std::string folder = root_ + "/2020-01-01T00:00:00+00:00";
    std::filesystem::create_directories(folder);
    RecordWriter writer(FileSystem::Posix()->Create(folder + "/" + name).value(), framing);
    for (const Message& message : messages) {
      ASSERT_TRUE(writer.Write(message.SerializeAsString()).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }
  void WriteAll(const std::vector<pb::PrioritizedItem>& items,
                RecordWriter::Framing framing = RecordWriter::Framing::kPlain) {
    WriteFile<pb::PriorityTableCheckpoint>(kTablesFile, {table_}, framing);
    WriteFile(kItemsFile, items, framing);
    WriteFile<pb::ChunkData>(kChunksFile, {Chunk(1), Chunk(2)}, framing);
    Write(root_ + "/2020-01-01T00:00:00+00:00/DONE", "");
  }
  void ExpectOldItem(const core::TableSnapshot::Item& item) {
    const core::Trajectory& trajectory = *item.trajectory;
    ASSERT_EQ(trajectory.num_columns(), 1);
    ASSERT_EQ(trajectory.num_slices(), 2);
    EXPECT_EQ(trajectory.chunk(0)->key(), 1u);
    EXPECT_EQ(trajectory.slice(0).offset, 1);
    EXPECT_EQ(trajectory.slice(0).length, 2);
    EXPECT_EQ(trajectory.slice(1).offset, 0);
    EXPECT_EQ(trajectory.slice(1).length, 2);
  }

  pb::PriorityTableCheckpoint table_;
};

TEST_F(OldFormsTest, ItemsWithSequenceRanges) {
  for (const auto framing : {RecordWriter::Framing::kPlain, RecordWriter::Framing::kZlib}) {
    std::filesystem::remove_all(root_ + "/2020-01-01T00:00:00+00:00");
    WriteAll({OldItem(8, 20), OldItem(7, 10)}, framing);
    const std::vector<core::TableSnapshot> tables = Load(root_).value();
    ASSERT_EQ(tables.size(), 1u);
    ASSERT_EQ(tables[0].items.size(), 2u);
    EXPECT_EQ(tables[0].items[0].key, 7u);  // by the time of insertion
    EXPECT_EQ(tables[0].items[0].inserted_at_nanos, 10000000000);
    EXPECT_EQ(tables[0].options.remover.kind, SelectorOptions::Kind::kMinHeap);
    for (const auto& item : tables[0].items) ExpectOldItem(item);
  }
}

TEST_F(OldFormsTest, ItemsInsideOfTheTables) {
  *table_.add_deprecated_items() = OldItem(1, 1);
  *table_.add_deprecated_items() = OldItem(2, 2);
  WriteAll({});
  EXPECT_EQ(Load(root_).status().code(), StatusCode::kInvalidArgument);
  std::filesystem::remove(root_ + "/2020-01-01T00:00:00+00:00/" + kItemsFile);
  const std::vector<core::TableSnapshot> tables = Load(root_).value();
  ASSERT_EQ(tables[0].items.size(), 2u);
  ExpectOldItem(tables[0].items[0]);
}

TEST_F(OldFormsTest, ChunksWithDeprecatedData) {
  WriteAll({OldItem(1, 1)});
  pb::ChunkData chunks[2] = {Chunk(1), Chunk(2)};
  for (pb::ChunkData& chunk : chunks) {
    chunk.mutable_deprecated_data()->Swap(chunk.mutable_data()->mutable_tensors());
    chunk.clear_data();
  }
  std::filesystem::remove(root_ + "/2020-01-01T00:00:00+00:00/" + kChunksFile);
  WriteFile<pb::ChunkData>(kChunksFile, {chunks[0], chunks[1]}, RecordWriter::Framing::kPlain);
  const std::vector<core::TableSnapshot> tables = Load(root_).value();
  ExpectOldItem(tables[0].items[0]);
  EXPECT_EQ(tables[0].items[0].trajectory->chunk(0)->content(0), MakeChunk(1, 1, 3)->content(0));
}

TEST_F(OldFormsTest, WhatDoesNotFitIsNamed) {
  const auto expect = [&](const pb::PrioritizedItem& item, const std::string& text) {
    std::filesystem::remove_all(root_ + "/2020-01-01T00:00:00+00:00");
    WriteAll({OldItem(1, 1), item});
    const Status status = Load(root_).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr("items.tfrecord: record 1 at byte "));
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  pb::PrioritizedItem item = OldItem(2, 2);
  item.mutable_flat_trajectory();
  expect(item, "both");
  item = OldItem(2, 2);
  item.mutable_deprecated_sequence_range()->set_length(6);
  expect(item, "more than are in its chunks");
  item = OldItem(2, 2);
  item.mutable_deprecated_sequence_range()->set_offset(3);
  expect(item, "begins behind its first chunk");
  item = OldItem(2, 2);
  item.add_deprecated_chunk_keys(3);
  item.mutable_deprecated_sequence_range()->set_length(7);
  expect(item, "Could not find sequence chunk 3");
  item = OldItem(2, 2);
  item.clear_deprecated_sequence_range();
  expect(item, "no steps");
  item = OldItem(2, 2);
  item.set_table("other");
  expect(item, "'other'");
}

}  // namespace
}  // namespace reverb_tf::checkpoint

// Tables with real chunks, and what tells whether two of them hold the same.
#ifndef REVERB_TF_CHECKPOINT_TESTING_TEST_TABLES_H_
#define REVERB_TF_CHECKPOINT_TESTING_TEST_TABLES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/checkpoint/crc32c.h"
#include "cc/checkpoint/loader.h"
#include "cc/checkpoint/store.h"
#include "cc/core/number_text.h"
#include "cc/core/random.h"
#include "cc/core/table.h"
#include "cc/core/testing/fake_clock.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf::checkpoint::testing {

// `rows` rows of `width` random floats, different for each seed.
inline core::ChunkRef MakeChunk(uint64_t key, uint64_t seed, int32_t rows = 2, int64_t width = 4) {
  core::Random random(seed);
  std::vector<float> values(static_cast<size_t>(rows * width));
  for (float& value : values) value = static_cast<float>(random.Unit());
  const int64_t dims[] = {rows, width};
  const TensorView column = {DType::kFloat32, 2, dims, values.data()};
  core::Chunk::Header header;
  header.key = key;
  header.episode_id = seed / 10;
  header.num_rows = rows;
  header.last_step = rows - 1;
  return wire::EncodeChunk(header, &column, 1, nullptr).value();
}

// One column of all rows of the chunks.
inline core::TrajectoryRef MakeTrajectory(std::vector<core::ChunkRef> chunks) {
  std::vector<core::ChunkSlice> slices;
  for (uint32_t i = 0; i < chunks.size(); ++i) {
    slices.push_back({i, 0, chunks[i]->header().num_rows, 0});
  }
  const core::Column column = {0, static_cast<uint32_t>(slices.size()), false};
  return core::Trajectory::Create(std::move(chunks), {column}, slices).value();
}

inline TableOptions MakeOptions(const std::string& name, int64_t max_size = 1000) {
  TableOptions options;
  options.name = name;
  options.sampler.kind = SelectorOptions::Kind::kFifo;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = max_size;
  options.seed = 1;
  return options;
}

inline std::shared_ptr<core::Table> MakeTable(const TableOptions& options) {
  return core::Table::Create(options).value();
}

// Item `key` of chunk `key`.
inline void Insert(core::Table* table, uint64_t key, int64_t width = 4) {
  std::vector<core::ChunkRef> chunks = {MakeChunk(key, key, 2, width)};
  std::vector<core::NewItem> items;
  items.push_back({key, 1.0 / static_cast<double>(key), 0, MakeTrajectory(std::move(chunks))});
  EXPECT_TRUE(table->Insert(std::move(items), nullptr).status.ok());
}

// Counts of `n` samples, taken at once.
inline size_t SampleNow(core::Table* table, int64_t n) {
  size_t taken = 0;
  table->Sample({n, SIZE_MAX, core::TimePoint{}},
                [&](core::Table::SampleResult result) { taken = result.items.size(); });
  return taken;
}

inline std::string Describe(const core::TableSnapshot& table) {
  std::string text = table.options.name;
  for (const int64_t count : {table.inserts, table.samples, table.deletes,
                              table.num_deleted_episodes, table.num_unique_samples}) {
    text += " " + std::to_string(count);
  }
  for (const core::TableSnapshot::Item& item : table.items) {
    text += "\n" + std::to_string(item.key) + " " + core::NumberText(item.priority) + " " +
            std::to_string(item.inserted_at_nanos) + " " + std::to_string(item.times_sampled);
    const core::Trajectory& trajectory = *item.trajectory;
    for (int i = 0; i < trajectory.num_slices(); ++i) {
      const core::ChunkSlice& slice = trajectory.slice(i);
      const core::Chunk& chunk = *trajectory.chunk(static_cast<int>(slice.chunk));
      text += " [" + std::to_string(chunk.key()) + ":" +
              std::to_string(Crc32c(chunk.content(slice.tensor))) + " " +
              std::to_string(slice.offset) + "+" + std::to_string(slice.length) + "]";
    }
  }
  return text;
}

inline std::string Describe(const std::vector<core::TableSnapshot>& tables) {
  std::string text;
  for (const core::TableSnapshot& table : tables) text += Describe(table) + "\n";
  return text;
}

inline std::string Describe(const std::vector<std::shared_ptr<core::Table>>& tables) {
  return Describe(core::Table::SnapshotAll(tables));
}

inline Result<std::vector<core::TableSnapshot>> Load(const std::string& path,
                                                     FileSystem* files = FileSystem::Posix(),
                                                     StoredChunks* stored = nullptr) {
  REVERB_TF_ASSIGN_OR_RETURN(Place place, FindCheckpoint(files, path));
  Loader loader(files, std::move(place), {});
  REVERB_TF_RETURN_IF_ERROR(loader.ReadTablesAndItems());
  REVERB_TF_RETURN_IF_ERROR(loader.ReadChunks());
  if (stored != nullptr) *stored = loader.TakeStored();
  return loader.TakeTables();
}

// An empty folder, removed at the end.
class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() : root_(::testing::TempDir() + "/checkpoint_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~CheckpointTest() override { std::filesystem::remove_all(root_); }

  StoreOptions Options(CheckpointFormat format = CheckpointFormat::kIncremental) {
    StoreOptions options;
    options.format = format;
    options.clock = &clock_;
    return options;
  }
  // A nanosecond after the last one, for distinct names.
  std::string Save(Store* store, const std::vector<std::shared_ptr<core::Table>>& tables) {
    clock_.Advance(std::chrono::nanoseconds(1));
    return store->Save(core::Table::SnapshotAll(tables)).value();
  }
  int64_t BytesOnDisk(const std::string& prefix = "") const {
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && name.compare(0, prefix.size(), prefix) == 0) {
        bytes += static_cast<int64_t>(entry.file_size());
      }
    }
    return bytes;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const std::vector<FolderEntry> entries = FileSystem::Posix()->List(root_).value();
    for (const FolderEntry& entry : entries) {
      names.push_back(entry.name);
    }
    return names;
  }
  void Write(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(WriteWholeFile(FileSystem::Posix(), path, bytes).ok());
  }

  const std::string root_;
  core::FakeClock clock_;
};

}  // namespace reverb_tf::checkpoint::testing

#endif  // REVERB_TF_CHECKPOINT_TESTING_TEST_TABLES_H_

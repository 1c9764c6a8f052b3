// Whatever breaks: the last complete checkpoint loads, or it is said what is damaged.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cc/checkpoint/layout.h"
#include "cc/checkpoint/testing/faulty_files.h"
#include "cc/checkpoint/testing/test_tables.h"

namespace reverb_tf::checkpoint {
namespace {

using testing::CheckpointTest;
using testing::Describe;
using testing::FaultyFiles;
using ::testing::HasSubstr;
using testing::Insert;
using testing::Load;
using testing::MakeOptions;
using testing::MakeTable;

class DamageTest : public CheckpointTest, public ::testing::WithParamInterface<CheckpointFormat> {
 protected:
  // All files of the checkpoint, those of chunks too.
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file() && entry.path().filename() != kDoneFile) {
        files.push_back(entry.path().string());
      }
    }
    return files;
  }
  void Replace(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  static std::string Read(const std::string& path) {
    return ReadWholeFile(FileSystem::Posix(), path, 1 << 30).value();
  }
  // DATA_LOSS that names the file, or what was saved.
  void ExpectFound(const std::string& path, const std::string& state, const std::string& what) {
    const Result<std::vector<core::TableSnapshot>> loaded = Load(root_);
    if (loaded.ok()) {
      EXPECT_EQ(Describe(*loaded), state) << path << what;
      return;
    }
    EXPECT_EQ(loaded.status().code(), StatusCode::kDataLoss) << loaded.status().ToString();
    EXPECT_THAT(loaded.status().message(), HasSubstr(root_)) << path << what;
    EXPECT_THAT(loaded.status().message(), HasSubstr("other complete checkpoint"));
  }
};

INSTANTIATE_TEST_SUITE_P(All, DamageTest,
                         ::testing::Values(CheckpointFormat::kIncremental,
                                           CheckpointFormat::kReverb),
                         [](const auto& info) {
                           return info.param == CheckpointFormat::kReverb ? "Reverb"
                                                                          : "Incremental";
                         });

TEST_P(DamageTest, EveryCutAndEveryMissingFile) {
  const auto table = MakeTable(MakeOptions("t"));
  for (uint64_t key = 1; key <= 3; ++key) Insert(table.get(), key);
  Store store(root_, Options(GetParam()));
  Save(&store, {table});
  const std::string state = Describe({table});
  ASSERT_EQ(Files().size(), GetParam() == CheckpointFormat::kReverb ? 3u : 4u);
  for (const std::string& path : Files()) {
    const std::string bytes = Read(path);
    for (size_t n = 0; n < bytes.size(); ++n) {
      Replace(path, bytes.substr(0, n));
      EXPECT_EQ(Load(root_).status().code(), StatusCode::kDataLoss) << path << " " << n;
      ExpectFound(path, state, " cut at " + std::to_string(n));
    }
    Replace(path, bytes + "x");
    EXPECT_EQ(Load(root_).status().code(), StatusCode::kDataLoss) << path;
    std::filesystem::remove(path);
    EXPECT_FALSE(Load(root_).ok()) << path;
    Replace(path, bytes);
    EXPECT_EQ(Describe(Load(root_).value()), state);
  }
}

TEST_P(DamageTest, EveryFlippedBit) {
  const auto table = MakeTable(MakeOptions("t"));
  for (uint64_t key = 1; key <= 2; ++key) Insert(table.get(), key);
  Store store(root_, Options(GetParam()));
  Save(&store, {table});
  const std::string state = Describe({table});
  for (const std::string& path : Files()) {
    const std::string bytes = Read(path);
    for (size_t i = 0; i < 8 * bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
      Replace(path, damaged);
      ExpectFound(path, state, " bit " + std::to_string(i));
    }
    Replace(path, bytes);
  }
}

TEST_P(DamageTest, TheOthersAreNamed) {
  const auto table = MakeTable(MakeOptions("t"));
  Insert(table.get(), 1);
  StoreOptions options = Options(GetParam());
  options.keep = 2;
  Store store(root_, options);
  const std::string first = Save(&store, {table});
  const std::string state = Describe({table});
  Insert(table.get(), 2);
  const std::string second = Save(&store, {table});
  const std::string path = second + "/" + kItemsFile;
  std::string bytes = Read(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  Replace(path, bytes);
  const Status status = Load(root_).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr(path + ": record "));
  EXPECT_THAT(status.message(), HasSubstr(" at byte "));
  EXPECT_THAT(status.message(), HasSubstr(first));
  EXPECT_EQ(Describe(Load(first).value()), state);
}

TEST_F(DamageTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(Load(root_).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Load(root_ + "/nowhere").status().code(), StatusCode::kNotFound);
  Write(root_ + "/2026-01-01T00:00:00+00:00/tables.tfrecord", "");
  EXPECT_EQ(Load(root_).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Load(root_ + "/2026-01-01T00:00:00+00:00").status().code(),
            StatusCode::kFailedPrecondition);
}

// Breaks a save at each of its operations, as if the process was killed there or the disk was full,
// and looks what there is then; the next save of another process then does as ever.
TEST_P(DamageTest, EveryOperationOfASaveMayFail) {
  for (const FaultyFiles::Fault fault : {FaultyFiles::Fault::kBefore, FaultyFiles::Fault::kAfter}) {
    int64_t num_operations = 1000;
    for (int64_t n = 0; n < num_operations; ++n) {
      std::filesystem::remove_all(root_);
      FaultyFiles files;
      StoreOptions options = Options(GetParam());
      options.files = &files;
      options.max_segment_bytes = 400;
      const auto table = MakeTable(MakeOptions("t", 6));
      for (uint64_t key = 1; key <= 6; ++key) Insert(table.get(), key);
      Store store(root_, options);
      Save(&store, {table});
      const std::string before = Describe({table});
      for (uint64_t key = 7; key <= 10; ++key) Insert(table.get(), key);
      const std::string after = Describe({table});

      files.BreakAt(n, fault);
      const Result<std::string> saved = store.Save(core::Table::SnapshotAll({table}));
      if (!files.broken()) num_operations = n;  // the last round: nothing has failed
      const Result<std::vector<core::TableSnapshot>> loaded = Load(root_);
      ASSERT_TRUE(loaded.ok()) << n << ": " << loaded.status().ToString();
      if (saved.ok()) {
        ASSERT_EQ(Describe(*loaded), after) << n;
      } else {
        ASSERT_TRUE(Describe(*loaded) == before || Describe(*loaded) == after) << n;
      }

      // The same process goes on, or a new one.
      files.BreakAt(-1, fault);
      Store other(root_, options);
      ASSERT_TRUE((n % 2 == 0 ? store : other).Save(core::Table::SnapshotAll({table})).ok()) << n;
      ASSERT_EQ(Describe(Load(root_).value()), after) << n;
      for (const std::string& name : Names()) {
        ASSERT_NE(name.compare(0, 5, kTemporaryPrefix), 0) << n << ": " << name;
      }
      ASSERT_EQ(ListCheckpoints(&files, root_).value().size(), 1u) << n;
    }
    EXPECT_LT(num_operations, 1000);
    EXPECT_GT(num_operations, 15);
  }
}

}  // namespace
}  // namespace reverb_tf::checkpoint

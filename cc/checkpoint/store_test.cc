// Saving and loading: what comes back, what is written again, what is kept.
#include "cc/checkpoint/store.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>
#include <set>
#include <thread>

#include "cc/checkpoint/layout.h"
#include "cc/checkpoint/testing/test_tables.h"

namespace reverb_tf::checkpoint {
namespace {

using testing::CheckpointTest;
using testing::Describe;
using ::testing::ElementsAre;
using testing::Insert;
using testing::Load;
using testing::MakeChunk;
using testing::MakeOptions;
using testing::MakeTable;
using testing::MakeTrajectory;
using testing::SampleNow;
using Kind = SelectorOptions::Kind;

class StoreTest : public CheckpointTest {};

class FormatTest : public CheckpointTest, public ::testing::WithParamInterface<CheckpointFormat> {};

INSTANTIATE_TEST_SUITE_P(All, FormatTest,
                         ::testing::Values(CheckpointFormat::kIncremental,
                                           CheckpointFormat::kReverb),
                         [](const auto& info) {
                           return info.param == CheckpointFormat::kReverb ? "Reverb"
                                                                          : "Incremental";
                         });

TEST_P(FormatTest, EverySelectorAndLimiterComesBack) {
  std::vector<std::shared_ptr<core::Table>> tables;
  for (const Kind kind : {Kind::kFifo, Kind::kLifo, Kind::kUniform, Kind::kPrioritized,
                          Kind::kMinHeap, Kind::kMaxHeap}) {
    TableOptions options = MakeOptions("table" + std::to_string(tables.size()), 8);
    options.sampler = {kind, 0.7};
    options.remover = {kind, 1.3};
    options.max_times_sampled = static_cast<int32_t>(tables.size());
    options.rate_limiter = {1.5, 2, -10.0, 10.0 + static_cast<double>(tables.size())};
    tables.push_back(MakeTable(options));
    for (uint64_t key = 1; key <= 10; ++key) Insert(tables.back().get(), key);
    EXPECT_GT(SampleNow(tables.back().get(), 5), 0u);
  }
  const std::vector<core::TableSnapshot> before = core::Table::SnapshotAll(tables);
  Store store(root_, Options(GetParam()));
  const std::string path = Save(&store, tables);
  for (const std::string& from : {root_, path}) {
    std::vector<core::TableSnapshot> loaded = Load(from).value();
    EXPECT_EQ(Describe(loaded), Describe(before));
    ASSERT_EQ(loaded.size(), tables.size());
    for (size_t i = 0; i < tables.size(); ++i) {
      EXPECT_THAT(core::DescribeDifferences(before[i].options, loaded[i].options), ElementsAre());
      const auto table = MakeTable(before[i].options);
      EXPECT_EQ(table->Restore(std::move(loaded[i])).value(), 0);
      EXPECT_EQ(Describe(core::Table::SnapshotAll({table})[0]), Describe(before[i]));
    }
  }
}

TEST_P(FormatTest, EmptyTablesAndSignatures) {
  TableOptions options = MakeOptions("empty");
  options.signature = "";  // None
  const std::vector<std::shared_ptr<core::Table>> tables = {MakeTable(options),
                                                            MakeTable(MakeOptions("other"))};
  Store store(root_, Options(GetParam()));
  Save(&store, tables);
  const std::vector<core::TableSnapshot> loaded = Load(root_).value();
  EXPECT_EQ(Describe(loaded), Describe(tables));
  EXPECT_EQ(loaded[0].options.signature, "");
  EXPECT_FALSE(loaded[1].options.signature);
}

TEST_P(FormatTest, ExtremeNumbers) {
  TableOptions options = MakeOptions("t", std::numeric_limits<int64_t>::max());
  const auto table = MakeTable(options);
  std::vector<core::NewItem> items;
  items.push_back({~uint64_t{0}, -std::numeric_limits<double>::infinity(), 1 << 30,
                   MakeTrajectory({MakeChunk(0, 1), MakeChunk(~uint64_t{0}, 2)})});
  items.push_back({0, std::numeric_limits<double>::max(), 0, MakeTrajectory({MakeChunk(1, 3)})});
  ASSERT_TRUE(table->Insert(std::move(items), nullptr).status.ok());
  Store store(root_, Options(GetParam()));
  Save(&store, {table});
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
  // Sampled once more than what is accepted back.
  EXPECT_EQ(SampleNow(table.get(), 1), 1u);
  Save(&store, {table});
  EXPECT_EQ(Load(root_).value()[0].items[0].times_sampled, 1 << 30);
}

TEST_P(FormatTest, SharedChunksAreWrittenOnce) {
  const auto a = MakeTable(MakeOptions("a"));
  const auto b = MakeTable(MakeOptions("b"));
  const core::ChunkRef chunk = MakeChunk(7, 7, 2, 100000);
  for (uint64_t key = 1; key <= 5; ++key) {
    for (core::Table* table : {a.get(), b.get()}) {
      std::vector<core::NewItem> items;
      items.push_back({key, 1, 0, MakeTrajectory({chunk})});
      ASSERT_TRUE(table->Insert(std::move(items), nullptr).status.ok());
    }
  }
  Store store(root_, Options(GetParam()));
  Save(&store, {a, b});
  EXPECT_LT(BytesOnDisk(), 900000);
  const std::vector<core::TableSnapshot> loaded = Load(root_).value();
  EXPECT_EQ(Describe(loaded), Describe({a, b}));
  EXPECT_EQ(loaded[0].items[0].trajectory->chunk(0), loaded[1].items[4].trajectory->chunk(0));
}

TEST_P(FormatTest, TwoChunksWithOneKeyStayApart) {
  const auto table = MakeTable(MakeOptions("t"));
  const core::ChunkRef first = MakeChunk(7, 1);
  const core::ChunkRef second = MakeChunk(7, 2);
  const core::ChunkRef again = MakeChunk(7, 1);
  std::vector<core::NewItem> items;
  items.push_back({1, 1, 0, MakeTrajectory({first})});
  items.push_back({2, 1, 0, MakeTrajectory({second})});
  items.push_back({3, 1, 0, MakeTrajectory({again})});
  items.push_back({4, 1, 0, MakeTrajectory({MakeChunk(8, 3), second})});
  ASSERT_TRUE(table->Insert(std::move(items), nullptr).status.ok());
  Store store(root_, Options(GetParam()));
  for (int i = 0; i < 2; ++i) {
    Save(&store, {table});
    const core::TableSnapshot loaded = std::move(Load(root_).value()[0]);
    const auto content = [&](int item, int chunk) {
      return loaded.items[static_cast<size_t>(item)].trajectory->chunk(chunk)->content(0);
    };
    EXPECT_EQ(content(0, 0), first->content(0));
    EXPECT_EQ(content(1, 0), second->content(0));
    EXPECT_EQ(content(2, 0), first->content(0));
    EXPECT_EQ(content(3, 1), second->content(0));
  }
}

TEST_F(StoreTest, AKeyThatIsUsedAgainForOtherBytesIsWrittenAgain) {
  const auto table = MakeTable(MakeOptions("t", 1));
  Store store(root_, Options());
  for (const uint64_t seed : {1, 2, 1}) {
    std::vector<core::NewItem> items;
    items.push_back({seed, 1, 0, MakeTrajectory({MakeChunk(7, seed)})});
    ASSERT_TRUE(table->Insert(std::move(items), nullptr).status.ok());
    Save(&store, {table});
    EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
    ASSERT_TRUE(table->Reset().ok());
  }
}

// As of one moment: an item that is written to `first` and then to `second` is in both or in none,
// or in the first alone.
TEST_F(StoreTest, AllTablesAreAsOfOneMoment) {
  constexpr uint64_t kItems = 20000;
  const auto first = MakeTable(MakeOptions("first", 2 * kItems));
  const auto second = MakeTable(MakeOptions("second", 2 * kItems));
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      const core::ChunkRef chunk = MakeChunk(writer + 1, 1);
      for (uint64_t n = 0; n < kItems; ++n) {
        for (core::Table* table : {first.get(), second.get()}) {
          std::vector<core::NewItem> items;
          items.push_back({2 * n + writer, 1, 0, MakeTrajectory({chunk})});
          (void)table->Insert(std::move(items), nullptr);
        }
      }
    });
  }
  size_t size = 0;
  while (size < 2 * kItems) {
    const std::vector<core::TableSnapshot> tables = core::Table::SnapshotAll({second, first});
    std::set<uint64_t> keys;
    for (const auto& item : tables[1].items) keys.insert(item.key);
    for (const auto& item : tables[0].items) {
      EXPECT_EQ(keys.count(item.key), 1u) << "item " << item.key << " is in the second table only";
    }
    EXPECT_LE(tables[1].items.size(), tables[0].items.size() + 2);
    EXPECT_GE(tables[0].items.size(), size);
    size = tables[0].items.size();
  }
  for (std::thread& writer : writers) writer.join();
  Store store(root_, Options());
  Save(&store, {first, second});
  EXPECT_EQ(Describe(Load(root_).value()), Describe({first, second}));
}

TEST_F(StoreTest, WhatIsOnDiskIsNotWrittenAgain) {
  const auto table = MakeTable(MakeOptions("t", 1000));
  for (uint64_t key = 1; key <= 1000; ++key) Insert(table.get(), key, 1000);
  Store store(root_, Options());
  Save(&store, {table});
  const int64_t all = BytesOnDisk("chunks-");
  EXPECT_GT(all, 8000000);
  Save(&store, {table});
  EXPECT_EQ(BytesOnDisk("chunks-"), all);
  for (uint64_t key = 1001; key <= 1010; ++key) Insert(table.get(), key, 1000);
  Save(&store, {table});
  EXPECT_GT(BytesOnDisk("chunks-"), all + all / 100 - 1000);
  EXPECT_LT(BytesOnDisk("chunks-"), all + all / 90);
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
}

TEST_F(StoreTest, WhatWasLoadedIsNotWrittenAgain) {
  const auto table = MakeTable(MakeOptions("t", 1000));
  for (uint64_t key = 1; key <= 100; ++key) Insert(table.get(), key, 1000);
  {
    Store store(root_, Options());
    Save(&store, {table});
  }
  const int64_t all = BytesOnDisk("chunks-");
  StoredChunks stored;
  std::vector<core::TableSnapshot> loaded = Load(root_, FileSystem::Posix(), &stored).value();
  const auto restored = MakeTable(MakeOptions("t", 1000));
  ASSERT_TRUE(restored->Restore(std::move(loaded[0])).ok());
  Store store(root_, Options());
  store.SetStored(std::move(stored));
  Save(&store, {restored});
  EXPECT_EQ(BytesOnDisk("chunks-"), all);
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
}

TEST_F(StoreTest, SegmentsOfWhichLittleIsNeededAreWrittenAgainAndRemoved) {
  const auto table = MakeTable(MakeOptions("t", 100));
  Store store(root_, Options());
  core::Random random(3);
  for (uint64_t key = 1; key <= 600; ++key) {
    Insert(table.get(), key, 1000);
    // Holes everywhere.
    const uint64_t hole = 1 + random.Below(key);
    ASSERT_TRUE(table->Mutate(nullptr, 0, &hole, 1).ok());
    if (key % 20 != 0) continue;
    Save(&store, {table});
    ASSERT_EQ(Describe(Load(root_).value()), Describe({table}));
    const auto needed = static_cast<int64_t>(table->Info().current_size) * 8000;
    EXPECT_LT(BytesOnDisk("chunks-"), 2 * needed + 50000) << key;
  }
}

TEST_F(StoreTest, LargeStatesAreCutIntoSegments) {
  StoreOptions options = Options();
  options.max_segment_bytes = 20000;
  const auto table = MakeTable(MakeOptions("t", 100));
  for (uint64_t key = 1; key <= 100; ++key) Insert(table.get(), key, 1000);
  Store store(root_, options);
  Save(&store, {table});
  EXPECT_GE(Names().size(), 30u);
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
  // The oldest go as a whole, without being written again.
  const int64_t all = BytesOnDisk("chunks-");
  for (uint64_t key = 101; key <= 150; ++key) Insert(table.get(), key, 1000);
  Save(&store, {table});
  EXPECT_LT(BytesOnDisk("chunks-"), all + 30000);
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
}

TEST_F(StoreTest, ASegmentThatIsGoneIsWrittenAgain) {
  const auto table = MakeTable(MakeOptions("t"));
  for (uint64_t key = 1; key <= 10; ++key) Insert(table.get(), key);
  Store store(root_, Options());
  Save(&store, {table});
  for (const std::string& name : Names()) {
    if (IsSegmentName(name)) std::filesystem::remove(root_ + "/" + name);
  }
  Save(&store, {table});
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
}

TEST_P(FormatTest, TheNewestAreKept) {
  StoreOptions options = Options(GetParam());
  options.keep = 3;
  Store store(root_, options);
  const auto table = MakeTable(MakeOptions("t", 5));
  std::vector<std::string> paths;
  std::vector<std::string> states;
  for (uint64_t key = 1; key <= 8; ++key) {
    Insert(table.get(), key);
    paths.push_back(Save(&store, {table}));
    states.push_back(Describe({table}));
    for (size_t i = 0; i < paths.size(); ++i) {
      const bool kept = i + 3 >= paths.size();
      EXPECT_EQ(std::filesystem::exists(paths[i]), kept) << i;
      if (!kept) continue;
      EXPECT_EQ(Describe(Load(paths[i]).value()), states[i]);
    }
  }
}

TEST_P(FormatTest, NothingOfOthersIsRemoved) {
  const auto table = MakeTable(MakeOptions("t", 5));
  Insert(table.get(), 1);
  const std::string stamp = "2020-01-01T00:00:00+00:00";
  const std::vector<std::string> foreign = {
      root_ + "/notes.txt",
      root_ + "/chunks-best.tfrecord",
      root_ + "/" + SegmentName(stamp, 0),           // our name, not our content
      root_ + "/" + SegmentName(stamp, 1) + ".bak",  // our content would not matter
      root_ + "/.tmp-mine/file",
      root_ + "/.tmp-" + stamp + "/picture.png",  // in a folder of our name
      root_ + "/.tmp-" + SegmentName(stamp, 2),
      root_ + "/2020-01-01T00:00:01+00:00/DONE",  // of dm-reverb: not our mark
      root_ + "/2020-01-01T00:00:01+00:00/tables.tfrecord",
      root_ + "/2020-01-01T00:00:02+00:00/MANIFEST",  // not ours
      root_ + "/2020-01-01T00:00:02+00:00/tables.tfrecord",
      root_ + "/2020-01-01T00:00:02+00:00/DONE",
      root_ + "/some/where/DONE"};
  for (const std::string& path : foreign) Write(path, "not of a checkpoint of reverb_tf");
  Store store(root_, Options(GetParam()));
  // One of ours in which somebody has left something, and one under a name of somebody.
  Write(Save(&store, {table}) + "/notes.txt", "mine");
  std::filesystem::rename(Save(&store, {table}), root_ + "/best");
  for (int i = 0; i < 3; ++i) Save(&store, {table});
  for (const std::string& path : foreign) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(Describe(Load(root_ + "/best").value()), Describe({table}));
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
  int64_t notes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    notes += entry.path().filename() == "notes.txt";
  }
  EXPECT_EQ(notes, 2);
}

TEST_F(StoreTest, LinksAreNotFollowedToRemove) {
  const std::string outside = root_ + "_outside";
  std::filesystem::remove_all(outside);
  const auto table = MakeTable(MakeOptions("t", 5));
  Insert(table.get(), 1);
  StoreOptions options = Options(CheckpointFormat::kReverb);
  const std::string elsewhere =
      Store(outside, options).Save(core::Table::SnapshotAll({table})).value();
  std::filesystem::create_directory_symlink(elsewhere, root_ + "/2020-01-01T00:00:00+00:00");
  Store store(root_, options);
  for (int i = 0; i < 3; ++i) Save(&store, {table});
  EXPECT_EQ(Describe(Load(elsewhere).value()), Describe({table}));
  std::filesystem::remove_all(outside);
}

TEST_F(StoreTest, NamesSortByTimeWhenTheClockStepsBack) {
  const auto table = MakeTable(MakeOptions("t", 5));
  StoreOptions options = Options();
  options.keep = 10;
  Store store(root_, options);
  std::string last;
  for (int i = 0; i < 5; ++i) {
    Insert(table.get(), static_cast<uint64_t>(i) + 1);
    // The clock stands still or is set back.
    clock_.Advance(std::chrono::seconds(i < 3 ? 0 : -100));
    const std::string path = store.Save(core::Table::SnapshotAll({table})).value();
    EXPECT_GT(path, last);
    last = path;
    EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
  }
}

TEST_F(StoreTest, AFolderIsWrittenByOneProcessAtATime) {
  const auto lock = FileSystem::Posix()->Lock(root_).value();
  Store store(root_, Options());
  const Status status = store.Save({}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(root_), std::string::npos);
}

TEST_P(FormatTest, AnInterruptedSaveLeavesNothing) {
  const auto table = MakeTable(MakeOptions("t", 50));
  for (uint64_t key = 1; key <= 20; ++key) Insert(table.get(), key);
  StoreOptions options = Options(GetParam());
  options.max_segment_bytes = 200;
  Store store(root_, options);
  for (int n = 0; n < 40; ++n) {
    int calls = 0;
    const Status status =
        store.Save(core::Table::SnapshotAll({table}), [&] { return ++calls > n; }).status();
    ASSERT_EQ(status.code(), StatusCode::kCancelled);
    ASSERT_THAT(Names(), ElementsAre()) << n;
  }
  Save(&store, {table});
  EXPECT_EQ(Describe(Load(root_).value()), Describe({table}));
}

}  // namespace
}  // namespace reverb_tf::checkpoint

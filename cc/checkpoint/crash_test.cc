// kill -9 at random moments, again and again: what is loaded then is complete and nothing is
// missing that was there when the last complete checkpoint began.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cc/checkpoint/restore.h"
#include "cc/checkpoint/testing/test_tables.h"

namespace reverb_tf::checkpoint {
namespace {

using testing::CheckpointTest;
using testing::Load;
using testing::MakeChunk;
using testing::MakeOptions;
using testing::MakeTable;
using testing::MakeTrajectory;

constexpr int kKills = 200;
constexpr int64_t kTableSize = 60;

// In memory that outlives the process that is killed.
struct Progress {
  std::atomic<uint64_t> inserted;  // the last item that is in the table
  std::atomic<uint64_t> saved;     // the last one when the last complete checkpoint began
  std::atomic<int> num_saves;
};

StoreOptions OptionsOf(int round) {
  StoreOptions options;
  options.format = round % 3 == 0 ? CheckpointFormat::kReverb : CheckpointFormat::kIncremental;
  options.keep = 1 + round % 2;
  options.max_segment_bytes = 4000;
  return options;
}

double Priority(uint64_t key) { return 1.0 / static_cast<double>(key); }

// Each item has a chunk of its own and that of the one before.
void InsertNext(core::Table* table, core::ChunkRef* last, uint64_t key) {
  core::ChunkRef chunk = MakeChunk(key, key, 1, 20);
  std::vector<core::ChunkRef> chunks = {chunk};
  if (*last) chunks.insert(chunks.begin(), *last);
  *last = chunk;
  std::vector<core::NewItem> items;
  items.push_back({key, Priority(key), 0, MakeTrajectory(std::move(chunks))});
  (void)table->Insert(std::move(items), nullptr);
}

// Goes on from what is in the folder, inserting and saving, until it is killed.
[[noreturn]] void RunUntilKilled(const std::string& root, int round, Progress* progress) {
  const std::vector<std::shared_ptr<core::Table>> tables = {
      MakeTable(MakeOptions("t", kTableSize))};
  CheckpointOptions options;
  options.path = root;
  Store store(root, OptionsOf(round));
  const Result<Restored> restored = Restore(FileSystem::Posix(), options, {}, tables, &store);
  if (!restored.ok()) _exit(1);
  uint64_t key = static_cast<uint64_t>(tables[0]->Info().inserts);
  progress->inserted = key;
  core::ChunkRef last;
  while (true) {
    for (int i = 0; i < 7; ++i) {
      InsertNext(tables[0].get(), &last, ++key);
      progress->inserted = key;
    }
    const uint64_t before = key;
    if (!store.Save(core::Table::SnapshotAll(tables)).ok()) _exit(2);
    progress->saved = before;
    ++progress->num_saves;
  }
}

class CrashTest : public CheckpointTest {
 protected:
  CrashTest() {
    void* const memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    progress_ = new (memory) Progress{};
  }
  ~CrashTest() override { munmap(progress_, sizeof(Progress)); }

  void Check() {
    const Result<std::vector<core::TableSnapshot>> loaded = Load(root_);
    if (progress_->saved == 0 && loaded.status().code() == StatusCode::kNotFound) return;
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    const core::TableSnapshot& table = (*loaded)[0];
    const auto last = static_cast<uint64_t>(table.inserts);
    EXPECT_GE(last, progress_->saved);
    EXPECT_LE(last, progress_->inserted);
    ASSERT_EQ(table.items.size(), std::min<uint64_t>(last, kTableSize));
    uint64_t key = last - table.items.size();
    for (const core::TableSnapshot::Item& item : table.items) {
      ++key;
      ASSERT_EQ(item.key, key);
      EXPECT_EQ(item.priority, Priority(key));
      const core::Trajectory& trajectory = *item.trajectory;
      const core::Chunk& chunk = *trajectory.chunk(trajectory.num_chunks() - 1);
      EXPECT_EQ(chunk.bytes(), MakeChunk(key, key, 1, 20)->bytes());
    }
  }

  Progress* progress_;
};

TEST_F(CrashTest, KilledAtAnyMoment) {
  core::Random random(7);
  for (int round = 0; round < kKills; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) RunUntilKilled(root_, round, progress_);
    // From before it has loaded to after several saves.
    const int num_saves = progress_->num_saves + static_cast<int>(random.Below(3));
    int status = 0;
    while (progress_->num_saves < num_saves && waitpid(child, &status, WNOHANG) == 0) {
      std::this_thread::yield();
    }
    usleep(static_cast<useconds_t>(random.Below(20000)));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << ": exit " << WEXITSTATUS(status);
    Check();
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  EXPECT_GT(progress_->num_saves, kKills / 2);
}

}  // namespace
}  // namespace reverb_tf::checkpoint

// The thread that writes checkpoints: requests that wait, and stops while the disk is slow.
#include "cc/server/checkpointer.h"

#include <gtest/gtest.h>

#include <future>

#include "cc/checkpoint/testing/test_tables.h"

namespace reverb_tf::server {
namespace {

using checkpoint::FileSystem;
using checkpoint::FolderEntry;
using checkpoint::FolderLock;
using checkpoint::ReadableFile;
using checkpoint::WritableFile;
using checkpoint::testing::Insert;
using checkpoint::testing::Load;
using checkpoint::testing::MakeOptions;
using checkpoint::testing::MakeTable;

// Waits before it creates a file, while it is held. Outlives what uses it.
class HeldFiles : public FileSystem {
 public:
  void Hold(bool held) {
    MutexLock lock(&mu_);
    held_ = held;
    changed_.NotifyAll();
  }
  void WaitUntilReached() {
    MutexLock lock(&mu_);
    while (num_waiting_ == 0) changed_.Wait(&mu_);
  }

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    {
      MutexLock lock(&mu_);
      ++num_waiting_;
      changed_.NotifyAll();
      while (held_) changed_.Wait(&mu_);
      --num_waiting_;
    }
    return files_->Create(path);
  }
  Result<std::unique_ptr<ReadableFile>> Open(const std::string& path) override {
    return files_->Open(path);
  }
  Status MakeFolder(const std::string& path) override { return files_->MakeFolder(path); }
  Status Rename(const std::string& from, const std::string& to) override {
    return files_->Rename(from, to);
  }
  Status SyncFolder(const std::string& path) override { return files_->SyncFolder(path); }
  Status RemoveFile(const std::string& path) override { return files_->RemoveFile(path); }
  Status RemoveFolder(const std::string& path) override { return files_->RemoveFolder(path); }
  Result<std::vector<FolderEntry>> List(const std::string& path) override {
    return files_->List(path);
  }
  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override {
    return files_->Lock(path);
  }

 private:
  FileSystem* const files_ = FileSystem::Posix();
  Mutex mu_;
  CondVar changed_;
  bool held_ GUARDED_BY(mu_) = false;
  int num_waiting_ GUARDED_BY(mu_) = 0;
};

class CheckpointerTest : public checkpoint::testing::CheckpointTest {
 protected:
  using Answer = std::future<Result<std::string>>;

  CheckpointerTest() : table_(MakeTable(MakeOptions("t"))) {
    checkpoint::StoreOptions options = Options();
    options.files = &files_;
    checkpointer_ = std::make_shared<Checkpointer>(
        std::make_unique<checkpoint::Store>(root_, options),
        std::vector<std::shared_ptr<core::Table>>{table_}, Duration::zero(),
        [](const std::string& line) { ADD_FAILURE() << line; });
    checkpointer_->Start();
  }
  ~CheckpointerTest() override {
    files_.Hold(false);
    checkpointer_->Stop(std::chrono::minutes(1), Duration::zero());
  }

  Answer Request() {
    auto promise = std::make_shared<std::promise<Result<std::string>>>();
    checkpointer_->Request([promise](Result<std::string> path) { promise->set_value(path); });
    return promise->get_future();
  }
  static StatusCode CodeOf(Answer answer) { return answer.get().status().code(); }

  HeldFiles files_;
  const std::shared_ptr<core::Table> table_;
  std::shared_ptr<Checkpointer> checkpointer_;
};

TEST_F(CheckpointerTest, RequestsThatComeMeanwhileGetTheNextCheckpoint) {
  Insert(table_.get(), 1);
  files_.Hold(true);
  Answer first = Request();
  files_.WaitUntilReached();
  Insert(table_.get(), 2);
  Answer second = Request();
  Answer third = Request();
  files_.Hold(false);
  const std::string first_path = first.get().value();
  const std::string second_path = second.get().value();
  EXPECT_NE(first_path, second_path);
  EXPECT_EQ(third.get().value(), second_path);
  const std::vector<core::TableSnapshot> loaded = Load(second_path).value();
  EXPECT_EQ(loaded[0].items.size(), 2u);
}

TEST_F(CheckpointerTest, AStopWaitsForWhatIsBeingWritten) {
  Insert(table_.get(), 1);
  files_.Hold(true);
  Answer running = Request();
  files_.WaitUntilReached();
  Answer waiting = Request();
  std::thread stop([this] { checkpointer_->Stop(std::chrono::minutes(1), Duration::zero()); });
  // Once it is stopping, requests are refused.
  while (true) {
    Answer late = Request();
    if (late.wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
    EXPECT_EQ(CodeOf(std::move(late)), StatusCode::kCancelled);
    break;
  }
  files_.Hold(false);
  stop.join();
  EXPECT_TRUE(running.get().ok());
  EXPECT_EQ(CodeOf(std::move(waiting)), StatusCode::kCancelled);
}

TEST_F(CheckpointerTest, AStopWithoutPatienceInterrupts) {
  Insert(table_.get(), 1);
  files_.Hold(true);
  Answer running = Request();
  files_.WaitUntilReached();
  std::thread stop([this] { checkpointer_->Stop(Duration::zero(), std::chrono::minutes(1)); });
  while (!checkpointer_->interrupted()) std::this_thread::yield();
  files_.Hold(false);
  stop.join();
  EXPECT_EQ(CodeOf(std::move(running)), StatusCode::kCancelled);
  EXPECT_EQ(Load(root_).status().code(), StatusCode::kNotFound);
}

TEST_F(CheckpointerTest, ADiskThatHangsDoesNotHoldUpAStop) {
  files_.Hold(true);
  Answer running = Request();
  Answer waiting = Request();
  files_.WaitUntilReached();
  checkpointer_->Stop(Duration::zero(), Duration::zero());
  EXPECT_EQ(CodeOf(std::move(running)), StatusCode::kCancelled);
  EXPECT_EQ(CodeOf(std::move(waiting)), StatusCode::kCancelled);
  // The thread that was left ends when the disk is back; it must not outlive the test's files.
  std::weak_ptr<Checkpointer> left = checkpointer_;
  files_.Hold(false);
  while (left.use_count() > 1) std::this_thread::yield();
}

}  // namespace
}  // namespace reverb_tf::server

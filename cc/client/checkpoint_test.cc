// Checkpoints of a server: written on request and by the clock, loaded at the start, read without
// it.
#include "reverb_tf/checkpoint.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "cc/client/testing/test_data.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

void WaitUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

class CheckpointTest : public testing::TestWithParam<Path> {
 protected:
  CheckpointTest() : root_(testing::TempDir() + "/server_checkpoint_test") {
    std::filesystem::remove_all(root_);
  }
  ~CheckpointTest() override {
    server_.reset();
    std::filesystem::remove_all(root_);
  }

  ServerOptions Options(const std::vector<TableOptions>& tables) {
    ServerOptions options;
    options.host = "localhost";
    for (const TableOptions& table : tables) options.tables.push_back(Table::Create(table).value());
    options.checkpoint.emplace();
    options.checkpoint->path = root_;
    return options;
  }
  void Start(ServerOptions options) {
    server_.reset();
    Result<std::unique_ptr<Server>> server = Server::Start(std::move(options));
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = *std::move(server);
    client_ = MakeClient(AddressOf(*server_), GetParam());
  }
  void Insert(int64_t value, const std::string& table) {
    const auto array = Scalar(value);
    EXPECT_TRUE(client_->Insert(&array->view(), 1, {{table, 1.0}}, Soon()).ok());
  }
  std::vector<int64_t> Sample(const std::string& table, int64_t n) {
    SamplerOptions options;
    options.table = table;
    options.max_samples = n;
    options.max_in_flight_samples_per_worker = 1;
    const auto sampler = client_->NewSampler(options).value();
    std::vector<int64_t> values(static_cast<size_t>(n));
    for (int64_t& value : values) {
      EXPECT_TRUE(sampler->Next(Soon()).value().ReadColumn(0, &value, sizeof value).ok());
    }
    return values;
  }
  static Status StartStatus(ServerOptions options) {
    return Server::Start(std::move(options)).status();
  }

  const std::string root_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Paths, CheckpointTest, testing::Values(Path::kLocal, Path::kGrpc),
                         PathName);

TEST_P(CheckpointTest, ARestartedServerGoesOn) {
  const std::vector<TableOptions> tables = {QueueOptions("queue", 10), UniformOptions("a", 5)};
  Start(Options(tables));
  EXPECT_EQ(server_->restored().path, "");
  for (int64_t value = 0; value < 5; ++value) Insert(value, "queue");
  for (int64_t value = 0; value < 3; ++value) Insert(value, "a");
  EXPECT_THAT(Sample("queue", 2), ElementsAre(0, 1));
  const Result<std::string> path = client_->Checkpoint(Soon());
  ASSERT_TRUE(path.ok()) << path.status().ToString();
  EXPECT_THAT(*path, HasSubstr(root_));
  Insert(100, "queue");

  ServerOptions options = Options(tables);
  std::vector<std::pair<int64_t, int64_t>> progress;
  options.load.progress = [&](int64_t done, int64_t total) { progress.emplace_back(done, total); };
  Start(std::move(options));
  EXPECT_EQ(server_->restored().path, *path);
  EXPECT_EQ(server_->restored().num_items, 6);
  EXPECT_THAT(server_->restored().differences, ElementsAre());
  ASSERT_FALSE(progress.empty());
  EXPECT_LE(progress[0].first, progress[0].second);
  EXPECT_EQ(progress[0].second, server_->restored().num_bytes);
  EXPECT_THAT(Sample("queue", 3), ElementsAre(2, 3, 4));
}

TEST_P(CheckpointTest, ALoadEndsWhenItIsInterrupted) {
  Start(Options({QueueOptions("queue", 10)}));
  Insert(1, "queue");
  ASSERT_TRUE(client_->Checkpoint(Soon()).ok());
  server_.reset();
  ServerOptions options = Options({QueueOptions("queue", 10)});
  options.load.interrupted = [] { return true; };
  EXPECT_EQ(StartStatus(std::move(options)).code(), StatusCode::kCancelled);
  CheckpointLoadOptions load;
  load.interrupted = [] { return true; };
  EXPECT_EQ(CheckpointReader::Open(root_, load).status().code(), StatusCode::kCancelled);
  Start(Options({QueueOptions("queue", 10)}));
  EXPECT_THAT(Sample("queue", 1), ElementsAre(1));
}

TEST_P(CheckpointTest, ReaderWithoutAServer) {
  TableOptions queue = QueueOptions("queue", 10);
  for (const auto format : {CheckpointFormat::kIncremental, CheckpointFormat::kReverb}) {
    ServerOptions options = Options({queue, UniformOptions("a")});
    options.checkpoint->format = format;
    std::filesystem::remove_all(root_);
    Start(std::move(options));
    for (int64_t value = 0; value < 5; ++value) Insert(value, "queue");
    Sample("queue", 2);
    const std::string path = client_->Checkpoint(Soon()).value();
    server_->Stop();
    for (const std::string& from : {root_, path, path + "/"}) {
      const auto reader = CheckpointReader::Open(from).value();
      EXPECT_TRUE(std::filesystem::equivalent(reader->path(), path));
      EXPECT_EQ(reader->format(), format);
      EXPECT_GT(reader->num_bytes(), 100);
      ASSERT_EQ(reader->tables().size(), 2u);
      const CheckpointTable& table = reader->tables()[0];
      EXPECT_EQ(table.options.name, "queue");
      EXPECT_EQ(table.options.max_times_sampled, 1);
      EXPECT_EQ(table.num_items, 3);
      EXPECT_EQ(table.inserts, 5);
      EXPECT_EQ(table.samples, 2);
      const auto items = reader->ReadItems("queue").value();
      for (int64_t expected = 2; expected < 5; ++expected) {
        const Result<class Sample> item = items->Next();
        ASSERT_TRUE(item.ok()) << item.status().ToString();
        int64_t value = 0;
        EXPECT_TRUE(item->ReadColumn(0, &value, sizeof value).ok());
        EXPECT_EQ(value, expected);
        EXPECT_EQ(item->info().table_size, 3);
        EXPECT_EQ(item->info().priority, 1.0);
      }
      EXPECT_EQ(items->Next().status().code(), StatusCode::kOutOfRange);
      EXPECT_EQ(reader->ReadItems("a").value()->Next().status().code(), StatusCode::kOutOfRange);
      const Status unknown = reader->ReadItems("b").status();
      EXPECT_EQ(unknown.code(), StatusCode::kNotFound);
      EXPECT_THAT(unknown.message(), HasSubstr("'queue', 'a'"));
    }
  }
  EXPECT_EQ(CheckpointReader::Open(root_ + "/nowhere").status().code(), StatusCode::kNotFound);
}

TEST_P(CheckpointTest, TheTablesKeepTheirSettings) {
  Start(Options({UniformOptions("a", 1000), UniformOptions("b")}));
  for (int64_t value = 0; value < 5; ++value) Insert(value, "a");
  ASSERT_TRUE(client_->Checkpoint(Soon()).ok());
  ServerOptions options =
      Options({UniformOptions("a", 3), UniformOptions("b"), UniformOptions("new")});
  const auto table = options.tables[0];
  Start(std::move(options));
  EXPECT_THAT(server_->restored().differences,
              ElementsAre("table 'a': max_size: 3 here, 1000 in the checkpoint",
                          AllOf(HasSubstr("table 'a': 2 of the 5"), HasSubstr("dropped"))));
  EXPECT_EQ(server_->restored().num_items, 3);
  EXPECT_EQ(table->impl()->Info().current_size, 3);
  Insert(9, "new");
}

TEST_P(CheckpointTest, TablesThatTheServerLacksAreListed) {
  Start(Options({UniformOptions("a"), UniformOptions("b"), UniformOptions("c")}));
  Insert(1, "a");
  ASSERT_TRUE(client_->Checkpoint(Soon()).ok());
  server_->Stop();
  ServerOptions options = Options({UniformOptions("b")});
  const Status status = StartStatus(options);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'a', 'c'; the server has 'b'"));
  // Nothing has happened to the table.
  options.checkpoint.reset();
  Start(options);
}

TEST_P(CheckpointTest, AnItemThatIsRefusedLeavesAllTablesEmpty) {
  Start(Options({UniformOptions("a"), UniformOptions("b")}));
  Insert(1, "a");
  const auto array = Scalar(1);
  ASSERT_TRUE(client_->Insert(&array->view(), 1, {{"b", -1.0}}, Soon()).ok());
  ASSERT_TRUE(client_->Checkpoint(Soon()).ok());
  server_->Stop();
  const ServerOptions options = Options({UniformOptions("a"), PrioritizedOptions("b")});
  EXPECT_EQ(StartStatus(options).code(), StatusCode::kInvalidArgument);
  for (const auto& table : options.tables) EXPECT_EQ(table->impl()->Info().current_size, 0);
}

TEST_P(CheckpointTest, WhatIsToBeLoadedMustBeThere) {
  ServerOptions options = Options({UniformOptions("a")});
  options.checkpoint->must_restore = true;
  EXPECT_EQ(StartStatus(options).code(), StatusCode::kNotFound);
  options.checkpoint->must_restore = false;
  options.checkpoint->fallback_path = root_ + "_fallback";
  const Status status = StartStatus(options);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(root_ + "_fallback"));

  options.checkpoint->path = options.checkpoint->fallback_path;
  options.checkpoint->fallback_path.clear();
  Start(options);
  Insert(5, "a");
  const std::string path = client_->Checkpoint(Soon()).value();
  options = Options({UniformOptions("a")});
  options.checkpoint->fallback_path = root_ + "_fallback";
  options.checkpoint->must_restore = true;
  Start(options);
  EXPECT_TRUE(std::filesystem::equivalent(server_->restored().path, path));
  EXPECT_THAT(client_->Checkpoint(Soon()).value(), HasSubstr(root_ + "/"));
  std::filesystem::remove_all(root_ + "_fallback");
}

TEST_P(CheckpointTest, ThePathOfOneCheckpoint) {
  ServerOptions options = Options({UniformOptions("a")});
  options.checkpoint->keep = 5;
  Start(options);
  Insert(1, "a");
  const std::string first = client_->Checkpoint(Soon()).value();
  Insert(2, "a");
  const std::string second = client_->Checkpoint(Soon()).value();
  options = Options({UniformOptions("a")});
  options.checkpoint->path = first;
  options.checkpoint->keep = 5;
  Start(options);
  EXPECT_EQ(server_->restored().num_items, 1);
  const std::string third = client_->Checkpoint(Soon()).value();
  EXPECT_TRUE(std::filesystem::equivalent(std::filesystem::path(third).parent_path(), root_));
  EXPECT_GT(std::filesystem::path(third).filename(), std::filesystem::path(second).filename());
}

TEST_P(CheckpointTest, ADamagedOneIsNotLoaded) {
  Start(Options({UniformOptions("a")}));
  Insert(1, "a");
  const std::string path = client_->Checkpoint(Soon()).value();
  server_->Stop();
  std::ofstream(path + "/items.tfrecord", std::ios::app) << "x";
  const Status status = StartStatus(Options({UniformOptions("a")}));
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("items.tfrecord: record 1 at byte"));
}

TEST_P(CheckpointTest, ALoadCanBeInterrupted) {
  Start(Options({UniformOptions("a")}));
  Insert(1, "a");
  ASSERT_TRUE(client_->Checkpoint(Soon()).ok());
  server_->Stop();
  ServerOptions options = Options({UniformOptions("a")});
  options.load.interrupted = [] { return true; };
  EXPECT_EQ(StartStatus(options).code(), StatusCode::kCancelled);
  EXPECT_EQ(options.tables[0]->impl()->Info().current_size, 0);
}

TEST_P(CheckpointTest, ManyCallsAtOnce) {
  Start(Options({UniformOptions("a")}));
  Insert(1, "a");
  std::atomic<int> num_good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 5; ++n) {
        num_good += (i % 2 == 0 ? client_->Checkpoint(Soon()) : server_->Checkpoint(Soon())).ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_good, 40);
  WaitOptions now;
  now.timeout = Duration::zero();
  EXPECT_EQ(server_->Checkpoint(now).status().code(), StatusCode::kDeadlineExceeded);
  WaitOptions interrupted;
  interrupted.interrupted = [] { return true; };
  const Status status = server_->Checkpoint(interrupted).status();
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kCancelled);
  server_->Stop();
  EXPECT_EQ(server_->Checkpoint(Soon()).status().code(), StatusCode::kCancelled);
}

TEST_P(CheckpointTest, ByTheClock) {
  ServerOptions options = Options({UniformOptions("a")});
  options.checkpoint->every = std::chrono::milliseconds(1);
  std::atomic<int> num_warnings{0};
  options.warn = [&](const std::string& line) {
    EXPECT_THAT(line, HasSubstr(root_));
    ++num_warnings;
  };
  Start(std::move(options));
  Insert(1, "a");
  WaitUntil([&] {
    const auto reader = CheckpointReader::Open(root_);
    return reader.ok() && (*reader)->tables()[0].num_items == 1;
  });
  EXPECT_EQ(num_warnings, 0);
  // A folder that is in the way is not the end of the server.
  while (num_warnings == 0) {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
    std::ofstream(root_) << "a file";
  }
  Insert(2, "a");
  server_->Stop();
}

TEST_P(CheckpointTest, BadOptions) {
  const auto refuse = [&](const std::function<void(CheckpointOptions*)>& change,
                          const std::string& text) {
    ServerOptions options = Options({UniformOptions("a")});
    change(&*options.checkpoint);
    const Status status = StartStatus(options);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  refuse([](CheckpointOptions* options) { options->path.clear(); }, "path is empty");
  refuse([](CheckpointOptions* options) { options->keep = 0; }, "keep is 0");
  refuse([](CheckpointOptions* options) { options->every = Duration(-1); }, "negative");
}

}  // namespace
}  // namespace reverb_tf::client

// Many threads with writers, samplers and calls on one client. What is sampled must be what was
// written; the rest is for the sanitizers.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cc/client/testing/test_data.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using std::chrono::milliseconds;

class ClientStressTest : public testing::TestWithParam<Path> {
 protected:
  ClientStressTest()
      : server_(StartServer({QueueOptions("q", 20), PrioritizedOptions("p", 50)})),
        client_(MakeClient(AddressOf(*server_), GetParam(), std::chrono::seconds(5))) {}

  // Column 0 counts up from a start of the writer's own; column 1 is its negative.
  void Write(int writer_number) {
    TrajectoryWriterOptions options;
    options.chunker.num_keep_alive_refs = 4;
    options.chunker.max_chunk_length = writer_number % 3;
    const auto writer = client_->NewTrajectoryWriter(options, Soon()).value();
    for (int64_t step = 0; !stop_; ++step) {
      const int64_t value = writer_number * 1'000'000 + step;
      const auto first = Scalar(value);
      const auto second = Scalar(-value);
      const TensorView values[] = {first->view(), second->view()};
      StepRef refs[2];
      ASSERT_TRUE(writer->Append(values, 2, false, refs).ok());
      const int64_t rows = std::min<int64_t>(4, step % 50 + 1);
      const std::vector<ItemColumn> columns = {{{{0, refs[0].row - rows + 1, rows}}, false},
                                               {{{1, refs[1].row, 1}}, true}};
      const char* const table = step % 2 == 0 ? "q" : "p";
      ASSERT_TRUE(writer->CreateItem(table, 1, columns, Within(milliseconds(5000))).ok());
      if (step % 50 == 49) {
        const Status status = writer->EndEpisode(true, Within(milliseconds(300)));
        // A full queue may keep it waiting; then nothing may be reset.
        if (!status.ok()) return;
      }
    }
  }

  static void CheckSample(const Sample& sample) {
    ASSERT_EQ(sample.num_columns(), 2);
    const std::vector<int64_t> first = ReadInts(sample, 0);
    for (size_t i = 1; i < first.size(); ++i) EXPECT_EQ(first[i], first[i - 1] + 1);
    EXPECT_EQ(ReadInts(sample, 1), std::vector<int64_t>{-first.back()});
    EXPECT_TRUE(sample.column(1).squeezed);
  }

  void SampleFrom(Sampler* sampler) {
    while (!stop_) {
      const auto sample = sampler->Next(Within(milliseconds(50)));
      if (!sample.ok()) continue;
      CheckSample(*sample);
      ++sampled_;
    }
  }

  void SampleWithManySamplers() {
    while (!stop_) {
      SamplerOptions options;
      options.table = "p";
      options.num_workers = 2;
      options.max_in_flight_samples_per_worker = 3;
      options.max_samples_per_stream = 7;
      const auto sampler = client_->NewSampler(options).value();
      for (int i = 0; i < 3; ++i) sampler->NextAsync([](Result<Sample>) {});
      for (int i = 0; i < 20; ++i) {
        const auto sample = sampler->Next(Within(milliseconds(20)));
        if (!sample.ok()) break;
        CheckSample(*sample);
        const KeyWithPriority update = {sample->info().key, 2.0};
        EXPECT_TRUE(client_->MutatePriorities("p", &update, 1, nullptr, 0, Soon()).ok());
        ++sampled_;
      }
    }
  }

  void CallAbout() {
    while (!stop_) {
      const Status bad = client_->Insert(nullptr, 0, {{"p", 1}}, Soon()).status();
      EXPECT_EQ(bad.code(), StatusCode::kInvalidArgument);
      EXPECT_TRUE(client_->GetServerInfo(Soon()).ok());
      const auto first = Scalar(5);
      const auto second = Scalar(-5);
      const TensorView values[] = {first->view(), second->view()};
      const auto cancel = client_->InsertAsync(values, 2, {{"other", 1}}, nullptr,
                                               [](Result<std::vector<uint64_t>>) {});
      cancel();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int64_t> sampled_{0};
  std::unique_ptr<Server> server_;
  std::shared_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Paths, ClientStressTest, testing::Values(Path::kLocal, Path::kGrpc),
                         PathName);

TEST_P(ClientStressTest, ManyThreads) {
  SamplerOptions options;
  options.table = "q";
  options.max_in_flight_samples_per_worker = 5;
  const auto shared = client_->NewSampler(options).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([this, i] { Write(i); });
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([this, &shared] { SampleFrom(shared.get()); });
  }
  threads.emplace_back([this] { SampleWithManySamplers(); });
  threads.emplace_back([this] { CallAbout(); });
  while (sampled_ < 2000 && !HasFailure()) std::this_thread::yield();
  stop_ = true;
  shared->Close();
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ClientStressTest, ServerStopsUnderWay) {
  SamplerOptions options;
  options.table = "q";
  const auto sampler = client_->NewSampler(options).value();
  std::thread writer([this] {
    const auto array = Scalar(1);
    while (client_->Insert(&array->view(), 1, {{"q", 1}}, Soon()).ok()) {
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(sampler->Next(Soon()).ok());
  server_->Stop();
  // What is buffered comes first.
  Status status;
  while (status.ok()) status = sampler->Next(Soon()).status();
  writer.join();
  sampler->Close();
}

TEST_P(ClientStressTest, CloseWhileFlushWaits) {
  for (int i = 0; i < 20; ++i) {
    const auto server = StartServer({QueueOptions("q", 1)});
    const auto client = MakeClient(AddressOf(*server), GetParam());
    auto writer = client->NewTrajectoryWriter({}, Soon()).value();
    const auto array = Scalar(1);
    StepRef ref;
    for (int64_t row = 0; row < 3; ++row) {
      ASSERT_TRUE(writer->Append(&array->view(), 1, false, &ref).ok());
      ASSERT_TRUE(writer->CreateItem("q", 1, {{{{0, row, 1}}, false}}, Soon()).ok());
    }
    std::atomic<bool> flushing{false};
    std::thread flusher([&] {
      flushing = true;
      EXPECT_EQ(writer->Flush(0, Soon()).code(), StatusCode::kCancelled);
    });
    while (!flushing) std::this_thread::yield();
    writer->Close();
    flusher.join();
  }
}

}  // namespace
}  // namespace reverb_tf::client

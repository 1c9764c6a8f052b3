// Items, observers and requests for tests of tables.
#ifndef REVERB_TF_CORE_TESTING_TEST_ITEMS_H_
#define REVERB_TF_CORE_TESTING_TEST_ITEMS_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "cc/core/trajectory.h"

namespace reverb_tf::core {

// `rows` rows of one float column.
inline ChunkRef MakeTestChunk(uint64_t key, uint64_t episode_id, int32_t rows = 1) {
  Chunk::Header header;
  header.key = key;
  header.episode_id = episode_id;
  header.num_rows = rows;
  header.last_step = rows - 1;
  header.uncompressed_size = 4 * static_cast<uint64_t>(rows);
  const int64_t dims[] = {rows};
  Chunk::Builder builder(header, 1, 1, header.uncompressed_size);
  std::memset(builder.bytes(), 0, header.uncompressed_size);
  builder.AddTensor(DType::kFloat32, dims, 1, 0, header.uncompressed_size);
  return std::move(builder).Build();
}

// One column of all rows of the chunks.
inline TrajectoryRef MakeTestTrajectory(std::vector<ChunkRef> chunks) {
  std::vector<ChunkSlice> slices;
  for (uint32_t i = 0; i < chunks.size(); ++i) {
    slices.push_back({i, 0, chunks[i]->header().num_rows, 0});
  }
  const Column column = {0, static_cast<uint32_t>(slices.size()), false};
  return Trajectory::Create(std::move(chunks), {column}, slices).value();
}

// One step of an episode.
inline NewItem MakeTestItem(uint64_t key, double priority = 1, uint64_t episode_id = 1) {
  return {key, priority, 0, MakeTestTrajectory({MakeTestChunk(key, episode_id)})};
}

template <typename... Keys>
std::vector<NewItem> MakeTestItems(Keys... keys) {
  std::vector<NewItem> items;
  (items.push_back(MakeTestItem(keys)), ...);
  return items;
}

// Remembers what it hears. Thread-safe.
class RecordingObserver : public InsertObserver {
 public:
  void OnInserted(const uint64_t* keys, size_t n) override {
    MutexLock lock(&mu_);
    inserted_.insert(inserted_.end(), keys, keys + n);
    ++num_calls_;
  }
  void OnDropped(const uint64_t* keys, size_t n, const Status& why) override {
    MutexLock lock(&mu_);
    dropped_.insert(dropped_.end(), keys, keys + n);
    why_ = why;
  }

  std::vector<uint64_t> inserted() const {
    MutexLock lock(&mu_);
    return inserted_;
  }
  std::vector<uint64_t> dropped() const {
    MutexLock lock(&mu_);
    return dropped_;
  }
  int num_calls() const {
    MutexLock lock(&mu_);
    return num_calls_;
  }
  Status why() const {
    MutexLock lock(&mu_);
    return why_;
  }

 private:
  mutable Mutex mu_;
  std::vector<uint64_t> inserted_ GUARDED_BY(mu_);
  std::vector<uint64_t> dropped_ GUARDED_BY(mu_);
  int num_calls_ GUARDED_BY(mu_) = 0;
  Status why_ GUARDED_BY(mu_);
};

// A sample request and its result, once there is one. For one thread.
class TestRequest {
 public:
  TestRequest(Table* table, int64_t num_samples, TimePoint deadline = kNoDeadline,
              size_t max_bytes = SIZE_MAX)
      : TestRequest(table, MakeOptions(num_samples, deadline, max_bytes)) {}
  TestRequest(Table* table, const Table::SampleOptions& options)
      : outcome_(std::make_shared<Outcome>()) {
    ticket_ = table->Sample(options, [outcome = outcome_](Table::SampleResult result) {
      ++outcome->num_calls;
      outcome->result = std::move(result);
    });
  }

  Table::Ticket ticket() const { return ticket_; }
  bool done() const { return outcome_->num_calls > 0; }
  int num_calls() const { return outcome_->num_calls; }
  const Table::SampleResult& result() const { return outcome_->result; }
  std::vector<uint64_t> keys() const {
    std::vector<uint64_t> keys;
    for (const SampledItem& item : outcome_->result.items) keys.push_back(item.key);
    return keys;
  }

 private:
  static Table::SampleOptions MakeOptions(int64_t num_samples, TimePoint deadline,
                                          size_t max_bytes) {
    Table::SampleOptions options;
    options.num_samples = num_samples;
    options.deadline = deadline;
    options.max_bytes = max_bytes;
    return options;
  }

  struct Outcome {
    int num_calls = 0;
    Table::SampleResult result;
  };
  std::shared_ptr<Outcome> outcome_;
  Table::Ticket ticket_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TESTING_TEST_ITEMS_H_

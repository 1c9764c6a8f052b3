// A transport whose other end is in the test.
#ifndef REVERB_TF_CLIENT_TESTING_FAKE_TRANSPORT_H_
#define REVERB_TF_CLIENT_TESTING_FAKE_TRANSPORT_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/transport.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {

// Follows the rules of the protocol for insert streams and checks that the client does. Not
// thread-safe: nothing happens outside of the test's calls.
class FakeTransport : public Transport {
 public:
  // An item as the server got it.
  struct Item {
    std::string table;
    core::NewItem item;
  };

  class FakeInsertStream : public InsertStream {
   public:
    FakeInsertStream(FakeTransport* transport, std::shared_ptr<InsertStreamObserver> observer)
        : transport_(transport), observer_(std::move(observer)) {}

    void Write(InsertBatch batch) override {
      if (observer_ == nullptr) return;
      EXPECT_FALSE(writing_) << "one batch at a time";
      EXPECT_FALSE(batch.chunks.empty() && batch.items.empty());
      writing_ = true;
      Receive(batch);
      ++transport_->num_batches;
      transport_->keep_sizes.push_back(batch.keep_chunk_keys.size());
      transport_->batch_sizes.push_back(batch.items.size());
      if (transport_->finish_writes) FinishWrite();
    }
    void Cancel() override { Close(CancelledError("cancelled")); }

    void FinishWrite() {
      if (!writing_ || observer_ == nullptr) return;
      writing_ = false;
      const auto observer = observer_;
      observer->OnWritten();
    }
    // The server answers for the first n items that it has not answered for.
    void Confirm(size_t n) {
      std::vector<uint64_t> keys;
      for (; n > 0 && !unanswered_.empty(); --n) {
        keys.push_back(unanswered_.front());
        unanswered_.pop_front();
      }
      const auto observer = observer_;
      if (observer != nullptr && !keys.empty()) observer->OnConfirmed(keys.data(), keys.size());
    }
    void Close(const Status& why) {
      const auto observer = std::exchange(observer_, nullptr);
      if (observer != nullptr) observer->OnClosed(why);
    }
    size_t num_unanswered() const { return unanswered_.size(); }
    size_t num_held() const { return held_.size(); }
    bool writing() const { return writing_; }
    bool open() const { return observer_ != nullptr; }

   private:
    void Receive(const InsertBatch& batch) {
      for (const core::ChunkRef& chunk : batch.chunks) {
        EXPECT_TRUE(held_.insert(chunk->key()).second) << "a chunk is sent once";
        transport_->bytes += chunk->num_bytes();
      }
      for (const OutgoingItem& item : batch.items) {
        const core::Trajectory& trajectory = *item.item.trajectory;
        for (int i = 0; i < trajectory.num_chunks(); ++i) {
          EXPECT_EQ(held_.count(trajectory.chunk(i)->key()), 1u) << "an item's chunk is missing";
        }
        transport_->received.push_back({*item.table, item.item});
        unanswered_.push_back(item.item.key);
      }
      if (batch.items.empty()) return;
      std::set<uint64_t> kept;
      for (uint64_t key : batch.keep_chunk_keys) {
        EXPECT_EQ(held_.count(key), 1u) << "a keep key is not held";
        EXPECT_TRUE(kept.insert(key).second) << "a keep key is listed twice";
      }
      held_ = std::move(kept);
    }

    FakeTransport* const transport_;
    std::shared_ptr<InsertStreamObserver> observer_;
    std::set<uint64_t> held_;
    std::deque<uint64_t> unanswered_;
    bool writing_ = false;
  };

  class FakeSampleStream : public SampleStream {
   public:
    FakeSampleStream(std::string table, std::shared_ptr<SampleStreamObserver> observer)
        : table(std::move(table)), observer_(std::move(observer)) {}

    void Request(const SampleRequest& request) override { requests.push_back(request); }
    void Cancel() override { Close(CancelledError("cancelled")); }

    void Deliver(std::vector<core::SampledItem> samples) {
      const auto observer = observer_;
      if (observer != nullptr) observer->OnSamples(std::move(samples));
    }
    void Close(const Status& why) {
      const auto observer = std::exchange(observer_, nullptr);
      if (observer != nullptr) observer->OnClosed(why);
    }
    bool open() const { return observer_ != nullptr; }

    const std::string table;
    std::vector<SampleRequest> requests;

   private:
    std::shared_ptr<SampleStreamObserver> observer_;
  };

  std::shared_ptr<InsertStream> OpenInsertStream(
      std::shared_ptr<InsertStreamObserver> observer) override {
    insert_streams.push_back(std::make_shared<FakeInsertStream>(this, std::move(observer)));
    return insert_streams.back();
  }
  std::shared_ptr<SampleStream> OpenSampleStream(
      const SampleStreamOptions& options, std::shared_ptr<SampleStreamObserver> observer) override {
    sample_streams.push_back(
        std::make_shared<FakeSampleStream>(options.table, std::move(observer)));
    return sample_streams.back();
  }
  CancelFunction GetServerInfo(std::function<void(Result<ServerInfo>)> callback) override {
    ++num_info_calls;
    callback(server_info);
    return [] {};
  }
  CancelFunction Mutate(const std::string& table, const std::vector<core::PriorityUpdate>& updates,
                        const std::vector<uint64_t>& deletes,
                        std::function<void(Status)> callback) override {
    callback(OkStatus());
    return [] {};
  }
  CancelFunction Reset(const std::string& table, std::function<void(Status)> callback) override {
    callback(OkStatus());
    return [] {};
  }
  CancelFunction Checkpoint(std::function<void(Result<std::string>)> callback) override {
    callback(std::string("/the/checkpoint"));
    return [] {};
  }
  CancelFunction Get(
      const std::string& table, const std::vector<uint64_t>& keys,
      std::function<void(Result<std::vector<core::SampledItem>>)> callback) override {
    callback(std::vector<core::SampledItem>());
    return [] {};
  }
  CancelFunction ListItems(const std::string& table, uint64_t start, int32_t max_items,
                           std::function<void(Result<ItemPage>)> callback) override {
    callback(ItemPage());
    return [] {};
  }
  CancelFunction Delete(const std::string& table, const std::vector<uint64_t>& keys,
                        std::function<void(Result<int64_t>)> callback) override {
    callback(int64_t{0});
    return [] {};
  }
  CancelFunction SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                                std::function<void(Status)> callback) override {
    callback(OkStatus());
    return [] {};
  }
  bool holds_chunks() const override { return true; }
  bool IsTransient(const Status& status) const override {
    return status.code() == StatusCode::kUnavailable;
  }

  FakeInsertStream& insert_stream() { return *insert_streams.back(); }
  FakeSampleStream& sample_stream() { return *sample_streams.back(); }

  bool finish_writes = true;  // at once
  Result<ServerInfo> server_info = ServerInfo();
  int num_info_calls = 0;
  std::vector<std::shared_ptr<FakeInsertStream>> insert_streams;
  std::vector<std::shared_ptr<FakeSampleStream>> sample_streams;
  std::vector<Item> received;  // on all streams
  size_t num_batches = 0;
  size_t bytes = 0;  // of chunks
  std::vector<size_t> keep_sizes;
  std::vector<size_t> batch_sizes;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TESTING_FAKE_TRANSPORT_H_

// A trajectory writer whose server is in the test.
#ifndef REVERB_TF_CLIENT_TESTING_WRITER_TEST_H_
#define REVERB_TF_CLIENT_TESTING_WRITER_TEST_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/sample_impl.h"
#include "cc/client/testing/fake_transport.h"
#include "cc/client/testing/test_data.h"
#include "cc/client/trajectory_writer_impl.h"
#include "cc/core/testing/fake_clock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {

class WriterTest : public testing::Test {
 protected:
  void Start(int32_t keep, int32_t chunk_length, bool validate = false) {
    ClientOptions client_options;
    client_options.patience = std::chrono::seconds(10);
    transport_ = std::make_shared<FakeTransport>();
    endpoint_ = std::make_shared<Endpoint>("fake:1", client_options, &clock_, [this] {
      return Result<std::shared_ptr<Transport>>(transport_);
    });
    TrajectoryWriterOptions options;
    options.chunker.num_keep_alive_refs = keep;
    options.chunker.max_chunk_length = chunk_length;
    SignaturesPtr signatures;
    if (validate) {
      transport_->server_info = info_;
      signatures = ParseSignatures(info_).value();
    }
    writer_ = std::make_unique<TrajectoryWriterImpl>(
        endpoint_, options, validate ? std::make_shared<SignatureCache>(endpoint_) : nullptr,
        signatures);
  }

  // One int64 scalar per column; nullopt: absent.
  Result<std::vector<StepRef>> Append(const std::vector<std::optional<int64_t>>& values,
                                      bool partial = false) {
    std::vector<std::unique_ptr<TestArray<int64_t>>> arrays;
    std::vector<TensorView> views;
    for (const auto& value : values) {
      arrays.push_back(Scalar(value.value_or(0)));
      views.push_back(value ? arrays.back()->view() : TensorView());
    }
    std::vector<StepRef> refs(values.size());
    Status status =
        writer_->Append(views.data(), static_cast<int32_t>(views.size()), partial, refs.data());
    if (!status.ok()) return status;
    return refs;
  }

  Result<uint64_t> CreateItem(const std::vector<ItemColumn>& columns,
                              const std::string& table = "t", double priority = 1) {
    return writer_->CreateItem(table, priority, columns, Soon());
  }

  static ItemColumn Rows(int32_t column, int64_t first, int64_t length, bool squeeze = false) {
    return {{{column, first, length}}, squeeze};
  }

  // Of the i-th item that was received.
  std::vector<int64_t> Received(size_t i, int column = 0) {
    core::SampledItem item;
    item.trajectory = transport_->received[i].item.trajectory;
    return ReadInts(Sample(Sample::Impl::Create(std::move(item))), column);
  }

  core::FakeClock clock_;
  ServerInfo info_;
  std::shared_ptr<FakeTransport> transport_;
  std::shared_ptr<Endpoint> endpoint_;
  std::unique_ptr<TrajectoryWriterImpl> writer_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TESTING_WRITER_TEST_H_

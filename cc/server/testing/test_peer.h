// A client for tests that speaks the protocol with generated code only.
#ifndef REVERB_TF_SERVER_TESTING_TEST_PEER_H_
#define REVERB_TF_SERVER_TESTING_TEST_PEER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "cc/wire/chunk_codec.h"
#include "proto/reverb_service.grpc.pb.h"
#include "reverb_tf/server.h"
#include "reverb_tf/table.h"

namespace reverb_tf::server::testing {

using InsertStreamRequest = deepmind::reverb::InsertStreamRequest;
using InsertStreamResponse = deepmind::reverb::InsertStreamResponse;
using SampleStreamRequest = deepmind::reverb::SampleStreamRequest;
using SampleStreamResponse = deepmind::reverb::SampleStreamResponse;

// Returns once the condition holds, which another thread brings about. (Tests that hang are ended
// by their timeout.)
inline void WaitUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

// A chunk of one int64 column with rows value, value + 1, ...; `extra_bytes` are zeros in a second
// column.
inline deepmind::reverb::ChunkData MakeChunk(uint64_t key, int64_t value, int32_t num_rows = 1,
                                             int64_t extra_bytes = 0) {
  std::vector<int64_t> values;
  for (int32_t i = 0; i < num_rows; ++i) values.push_back(value + i);
  const std::vector<char> zeros(static_cast<size_t>(num_rows * extra_bytes));
  const int64_t dims[] = {num_rows, extra_bytes};
  TensorView columns[2];
  columns[0] = {DType::kInt64, 1, dims, values.data()};
  columns[1] = {DType::kUint8, 2, dims, zeros.data()};
  core::Chunk::Header header;
  header.key = key;
  header.num_rows = num_rows;
  header.last_step = num_rows - 1;
  // No attempt to compress, so that messages are as large as they look.
  wire::CompressionAdvisor advisors[2];
  for (auto& advisor : advisors) {
    for (int i = 0; i < 3; ++i) advisor.Report(1, 1);
  }
  const core::ChunkRef chunk =
      wire::EncodeChunk(header, columns, extra_bytes > 0 ? 2 : 1, advisors).value();
  deepmind::reverb::ChunkData message;
  message.ParseFromString(std::string(chunk->bytes()));
  return message;
}

// One column: rows [0, length) of the first tensor of the chunk.
inline void FillItem(uint64_t key, const std::string& table, uint64_t chunk_key, double priority,
                     deepmind::reverb::PrioritizedItem* item, int32_t length = 1) {
  item->set_key(key);
  item->set_table(table);
  item->set_priority(priority);
  auto* slice = item->mutable_flat_trajectory()->add_columns()->add_chunk_slices();
  slice->set_chunk_key(chunk_key);
  slice->set_length(length);
}

// One item of one row of its own chunk; the chunk is kept by nobody. Item and chunk have the same
// key.
inline InsertStreamRequest OneItem(uint64_t key, const std::string& table = "t",
                                   double priority = 1, int64_t extra_bytes = 0) {
  InsertStreamRequest request;
  *request.add_chunks() = MakeChunk(key, static_cast<int64_t>(key), 1, extra_bytes);
  FillItem(key, table, key, priority, request.add_items());
  return request;
}

inline SampleStreamRequest Samples(int64_t n, const std::string& table = "t") {
  SampleStreamRequest request;
  request.set_table(table);
  request.set_num_samples(n);
  return request;
}

// An InsertStream and its context.
struct InsertCall {
  explicit InsertCall(deepmind::reverb::ReverbService::Stub* stub)
      : stream(stub->InsertStream(&context)) {}
  // Reads until so many keys are acknowledged; returns them in order.
  std::vector<uint64_t> ReadKeys(size_t n) {
    std::vector<uint64_t> keys;
    InsertStreamResponse response;
    while (keys.size() < n && stream->Read(&response)) {
      keys.insert(keys.end(), response.keys().begin(), response.keys().end());
    }
    return keys;
  }
  // Reads what is left.
  grpc::Status Finish() {
    InsertStreamResponse response;
    while (stream->Read(&response)) continue;
    return stream->Finish();
  }
  // Sends one message and no more; the status with which the server ends the stream.
  grpc::Status SendOnly(const InsertStreamRequest& request) {
    stream->Write(request);
    return Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<InsertStreamRequest, InsertStreamResponse>> stream;
};

// A SampleStream and its context.
struct SampleCall {
  explicit SampleCall(deepmind::reverb::ReverbService::Stub* stub)
      : stream(stub->SampleStream(&context)) {}
  // Item keys of so many samples in order.
  std::vector<uint64_t> ReadKeys(size_t n) {
    std::vector<uint64_t> keys;
    SampleStreamResponse response;
    size_t complete = 0;
    while (complete < n && stream->Read(&response)) {
      for (const auto& entry : response.entries()) {
        if (entry.has_info()) keys.push_back(entry.info().item().key());
        complete += entry.end_of_sequence() ? 1 : 0;
      }
    }
    return keys;
  }
  grpc::Status Finish() {
    SampleStreamResponse response;
    while (stream->Read(&response)) continue;
    return stream->Finish();
  }
  grpc::Status SendOnly(const SampleStreamRequest& request) {
    stream->Write(request);
    return Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<SampleStreamRequest, SampleStreamResponse>> stream;
};

inline std::shared_ptr<Table> MakeTable(const std::string& name, int64_t max_size) {
  TableOptions options;
  options.name = name;
  options.sampler.kind = SelectorOptions::Kind::kFifo;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = max_size;
  return Table::Create(std::move(options)).value();
}

// Items are sampled once; `size` of them fit.
inline std::shared_ptr<Table> MakeQueue(const std::string& name, int64_t size) {
  TableOptions options;
  options.name = name;
  options.sampler.kind = SelectorOptions::Kind::kFifo;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = size;
  options.max_times_sampled = 1;
  options.rate_limiter.min_diff = 0;
  options.rate_limiter.max_diff = static_cast<double>(size);
  return Table::Create(std::move(options)).value();
}

}  // namespace reverb_tf::server::testing

#endif  // REVERB_TF_SERVER_TESTING_TEST_PEER_H_

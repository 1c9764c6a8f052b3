// A GetItems call over gRPC.
#ifndef REVERB_TF_CLIENT_GRPC_GET_STREAM_H_
#define REVERB_TF_CLIENT_GRPC_GET_STREAM_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "cc/client/grpc_stream.h"
#include "cc/core/table.h"
#include "cc/wire/messages.h"

namespace reverb_tf::client {

// Collects what the server sends.
class GrpcGetStream : public GrpcStream {
 public:
  using Callback = std::function<void(Result<std::vector<core::SampledItem>>)>;

  // The callback comes once. More than `max_items` items are an error of the server.
  GrpcGetStream(size_t max_items, Callback callback)
      : max_items_(max_items), callback_(std::move(callback)) {}

 private:
  void HandleMessage(const grpc::ByteBuffer& message) override;
  void HandleWritten() override {}
  void HandleEnd(const Status& status) override;

  const size_t max_items_;
  // The rest is used by the poller only.
  Callback callback_;
  wire::SampleResponseReader reader_;
  std::vector<core::SampledItem> items_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_GET_STREAM_H_

// An insert stream over gRPC.
#ifndef REVERB_TF_CLIENT_GRPC_INSERT_STREAM_H_
#define REVERB_TF_CLIENT_GRPC_INSERT_STREAM_H_

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <utility>
#include <vector>

#include "cc/client/grpc_stream.h"
#include "cc/client/transport.h"
#include "cc/wire/messages.h"

namespace reverb_tf::client {

class GrpcInsertStream : public InsertStream, public GrpcStream {
 public:
  explicit GrpcInsertStream(std::shared_ptr<InsertStreamObserver> observer)
      : observer_(std::move(observer)) {}

  void Write(InsertBatch batch) override;
  void Cancel() override { Abort(); }

 private:
  void HandleMessage(const grpc::ByteBuffer& message) override;
  void HandleWritten() override { observer_->OnWritten(); }
  void HandleEnd(const Status& status) override;

  std::shared_ptr<InsertStreamObserver> observer_;  // until the end; used by the poller only
  std::vector<uint64_t> keys_;                      // scratch of HandleMessage
  wire::InsertRequestWriter writer_;                // used by Write only
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_INSERT_STREAM_H_

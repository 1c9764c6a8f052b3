// A sample stream over gRPC.
#ifndef REVERB_TF_CLIENT_GRPC_SAMPLE_STREAM_H_
#define REVERB_TF_CLIENT_GRPC_SAMPLE_STREAM_H_

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/grpc_stream.h"
#include "cc/client/transport.h"
#include "cc/core/mutex.h"
#include "cc/wire/messages.h"

namespace reverb_tf::client {

class GrpcSampleStream : public SampleStream, public GrpcStream {
 public:
  GrpcSampleStream(const SampleStreamOptions& options,
                   std::shared_ptr<SampleStreamObserver> observer)
      : table_(options.table), observer_(std::move(observer)), reader_(options.align_arrays) {}

  void Request(const SampleRequest& request) override;
  void Cancel() override { Abort(); }

 private:
  void HandleMessage(const grpc::ByteBuffer& message) override;
  void HandleWritten() override;
  void HandleEnd(const Status& status) override;
  grpc::ByteBuffer RequestMessage(const SampleRequest& asked) const;

  const std::string table_;
  std::shared_ptr<SampleStreamObserver> observer_;  // until the end; used by the poller only
  wire::SampleResponseReader reader_;               // used by HandleMessage only

  Mutex mu_;
  bool writing_ GUARDED_BY(mu_) = false;
  bool have_next_ GUARDED_BY(mu_) =
      false;  // a request that came while the last one was being written
  grpc::ByteBuffer next_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_SAMPLE_STREAM_H_

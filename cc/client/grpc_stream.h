// What the streams of the client have in common.
#ifndef REVERB_TF_CLIENT_GRPC_STREAM_H_
#define REVERB_TF_CLIENT_GRPC_STREAM_H_

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>

#include "cc/client/grpc_channel.h"
#include "cc/core/mutex.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

using ByteStub = grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer>;

// A call of bytes. Keeps itself alive from Start until its end was reported, so that owners may let
// go at any time. Reads all the time. Thread-safe.
class GrpcStream : public std::enable_shared_from_this<GrpcStream> {
 public:
  virtual ~GrpcStream() = default;

  // Once, before anything else. `method` is "/package.Service/Method".
  void Start(std::shared_ptr<GrpcChannel> channel, ByteStub* stub, const std::string& method);

  // One message at a time: the next one after HandleWritten. `last`: nothing is sent after it. A
  // no-op after the end.
  void SendMessage(grpc::ByteBuffer message, bool last = false) EXCLUDES(mu_);

  // The stream ends with CANCELLED, or with `why` if that is an error.
  void Abort(Status why = OkStatus()) EXCLUDES(mu_);

 protected:
  // Called by the poller's thread, one at a time. HandleEnd comes last, with OK when the server has
  // ended the stream by itself.
  virtual void HandleMessage(const grpc::ByteBuffer& message) = 0;
  virtual void HandleWritten() = 0;
  virtual void HandleEnd(const Status& status) = 0;

 private:
  using Call = grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  void OnRead(bool ok) EXCLUDES(mu_);
  void OnWritten(bool ok) EXCLUDES(mu_);
  void OnFinished() EXCLUDES(mu_);
  // Reports the end once no operation is going on any more.
  void End();

  std::shared_ptr<GrpcChannel> channel_;  // goes after the context
  grpc::ClientContext context_;           // goes after the call
  std::unique_ptr<Call> call_;
  std::shared_ptr<GrpcStream> self_;
  const GrpcEvent read_{[this](bool ok) { OnRead(ok); }};
  const GrpcEvent written_{[this](bool ok) { OnWritten(ok); }};
  const GrpcEvent finished_{[this](bool) { OnFinished(); }};
  grpc::ByteBuffer received_;  // of the read that is going on
  grpc::Status status_;
  bool is_finished_ = false;  // used by the poller's thread only

  Mutex mu_;
  bool writing_ GUARDED_BY(mu_) = false;
  bool open_ GUARDED_BY(mu_) = false;  // writes may be started
  Status abort_reason_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_GRPC_STREAM_H_

#include "cc/client/grpc_stream.h"

#include <utility>

#include "cc/client/grpc_status.h"

namespace reverb_tf::client {

void GrpcStream::Start(std::shared_ptr<GrpcChannel> channel, ByteStub* stub,
                       const std::string& method) {
  channel_ = std::move(channel);
  self_ = shared_from_this();
  context_.set_compression_algorithm(GRPC_COMPRESS_NONE);
  stub->PrepareBidiStreamingCall(&context_, method, {}, this);
  AddHold();  // for the writes, which are started outside of reactions
  {
    MutexLock lock(&mu_);
    open_ = true;
  }
  StartRead(&received_);
  StartCall();
}

void GrpcStream::SendMessage(grpc::ByteBuffer message, bool last) {
  MutexLock lock(&mu_);
  if (!open_) return;
  sent_.Swap(&message);
  grpc::WriteOptions options;
  options.set_no_compression();
  if (last) options.set_last_message();
  StartWrite(&sent_, options);
}

void GrpcStream::Abort(Status why) {
  {
    MutexLock lock(&mu_);
    if (!open_) return;
    if (abort_reason_.ok()) abort_reason_ = std::move(why);
  }
  context_.TryCancel();
}

void GrpcStream::OnReadDone(bool ok) {
  if (!ok) return Release();
  HandleMessage(received_);
  received_.Clear();
  StartRead(&received_);
}

void GrpcStream::OnWriteDone(bool ok) {
  grpc::ByteBuffer sent;  // released without the lock
  {
    MutexLock lock(&mu_);
    sent_.Swap(&sent);
  }
  sent.Clear();
  if (!ok) return;  // the read fails too
  HandleWritten();
}

void GrpcStream::Release() {
  {
    MutexLock lock(&mu_);
    if (!open_) return;
    open_ = false;
  }
  RemoveHold();
}

void GrpcStream::OnDone(const grpc::Status& status) {
  Status end = FromGrpcStatus(status);
  {
    MutexLock lock(&mu_);
    if (!abort_reason_.ok()) end = abort_reason_;
  }
  HandleEnd(end);
  const std::shared_ptr<GrpcStream> last = std::move(self_);
}

}  // namespace reverb_tf::client

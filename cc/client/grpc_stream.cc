#include "cc/client/grpc_stream.h"

#include <utility>

#include "cc/client/grpc_status.h"

namespace reverb_tf::client {

void GrpcStream::Start(std::shared_ptr<GrpcChannel> channel, ByteStub* stub,
                       const std::string& method) {
  channel_ = std::move(channel);
  self_ = shared_from_this();
  context_.set_compression_algorithm(GRPC_COMPRESS_NONE);
  // The first message takes the metadata along; no event tells of them.
  context_.set_initial_metadata_corked(true);
  call_ = stub->PrepareCall(&context_, method, channel_->queue());
  call_->StartCall(nullptr);
  {
    MutexLock lock(&mu_);
    open_ = true;
  }
  call_->Read(&received_, read_.tag());
}

void GrpcStream::SendMessage(grpc::ByteBuffer message, bool last) {
  MutexLock lock(&mu_);
  if (!open_) return;
  writing_ = true;
  grpc::WriteOptions options;
  options.set_no_compression();
  if (last) options.set_last_message();
  call_->Write(message, options, written_.tag());
}

void GrpcStream::Abort(Status why) {
  {
    MutexLock lock(&mu_);
    if (!open_) return;
    if (abort_reason_.ok()) abort_reason_ = std::move(why);
  }
  context_.TryCancel();
}

void GrpcStream::OnRead(bool ok) {
  if (ok) {
    HandleMessage(received_);
    received_.Clear();
    call_->Read(&received_, read_.tag());
    return;
  }
  {
    MutexLock lock(&mu_);
    open_ = false;
  }
  call_->Finish(&status_, finished_.tag());
}

void GrpcStream::OnWritten(bool ok) {
  {
    MutexLock lock(&mu_);
    writing_ = false;
  }
  if (ok) HandleWritten();  // else the read fails too
  if (is_finished_) End();
}

void GrpcStream::OnFinished() {
  is_finished_ = true;
  {
    MutexLock lock(&mu_);
    if (writing_) return;
  }
  End();
}

void GrpcStream::End() {
  Status end = FromGrpcStatus(status_);
  {
    MutexLock lock(&mu_);
    if (!abort_reason_.ok()) end = abort_reason_;
  }
  HandleEnd(end);
  const std::shared_ptr<GrpcStream> last = std::move(self_);
}

}  // namespace reverb_tf::client

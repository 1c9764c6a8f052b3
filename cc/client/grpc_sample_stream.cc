#include "cc/client/grpc_sample_stream.h"

#include <algorithm>
#include <chrono>

#include "proto/reverb_service.pb.h"

namespace reverb_tf::client {

grpc::ByteBuffer GrpcSampleStream::RequestMessage(const SampleRequest& asked) const {
  deepmind::reverb::SampleStreamRequest request;
  request.set_table(table_);
  request.set_num_samples(asked.n);
  if (asked.min_version) request.set_min_version(*asked.min_version);
  if (asked.unless_version) request.set_unless_version(*asked.unless_version);
  if (asked.timeout == kInfiniteDuration) {
    request.mutable_rate_limiter_timeout()->set_milliseconds(-1);
    request.set_rate_limiter_timeout_nanos(-1);
  } else {
    // Servers that know milliseconds only take 0 for "no limit": there the least is 1.
    const int64_t nanos = std::max<int64_t>(asked.timeout.count(), 0);
    request.mutable_rate_limiter_timeout()->set_milliseconds(
        std::max<int64_t>(nanos / 1'000'000 + (nanos % 1'000'000 != 0), 1));
    request.set_rate_limiter_timeout_nanos(nanos);
  }
  grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

void GrpcSampleStream::Request(const SampleRequest& request) {
  grpc::ByteBuffer message = RequestMessage(request);
  {
    MutexLock lock(&mu_);
    if (writing_) {
      next_.Swap(&message);
      have_next_ = true;
      return;
    }
    writing_ = true;
  }
  SendMessage(std::move(message));
}

void GrpcSampleStream::HandleWritten() {
  grpc::ByteBuffer message;
  {
    MutexLock lock(&mu_);
    writing_ = have_next_;
    if (!have_next_) return;
    have_next_ = false;
    message.Swap(&next_);
  }
  SendMessage(std::move(message));
}

void GrpcSampleStream::HandleMessage(const grpc::ByteBuffer& message) {
  std::vector<core::SampledItem> samples;
  Status status = reader_.Read(message, &samples);
  if (!samples.empty()) observer_->OnSamples(std::move(samples));
  if (!status.ok()) Abort(status.WithContext("Malformed answer of the server"));
}

void GrpcSampleStream::HandleEnd(const Status& status) {
  std::exchange(observer_, nullptr)
      ->OnClosed(status.ok() ? UnavailableError("The server ended the stream.") : status);
}

}  // namespace reverb_tf::client

#include "cc/server/sample_stream_reactor.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "cc/server/grpc_status.h"
#include "cc/server/proto_message.h"
#include "cc/wire/messages.h"
#include "cc/wire/server_stopped.h"
#include "proto/reverb_service.pb.h"

namespace reverb_tf::server {
namespace {

constexpr int64_t kFirstBatch = 128;
constexpr int64_t kMaxBatch = 1024;
constexpr size_t kBatchBytes = 2 << 20;
constexpr size_t kMaxQueuedResponses = 3;

// Longer than anybody waits, and far from overflowing when added to a time.
constexpr int64_t kForeverNanos = std::numeric_limits<int64_t>::max() / 4;

std::optional<std::chrono::nanoseconds> TimeoutOf(
    const deepmind::reverb::SampleStreamRequest& request) {
  int64_t nanos;
  if (request.has_rate_limiter_timeout_nanos()) {
    nanos = request.rate_limiter_timeout_nanos();
    if (nanos < 0) return std::nullopt;
  } else {
    const int64_t millis = request.rate_limiter_timeout().milliseconds();
    if (millis <= 0) return std::nullopt;
    nanos = millis > kForeverNanos / 1000000 ? kForeverNanos : millis * 1000000;
  }
  if (nanos >= kForeverNanos) return std::nullopt;
  return std::chrono::nanoseconds(nanos);
}

}  // namespace

SampleStreamReactor* SampleStreamReactor::Start(std::shared_ptr<const ServedTables> tables,
                                                core::Clock* clock, OpenStreams* streams) {
  auto reactor = std::make_shared<SampleStreamReactor>(std::move(tables), clock, streams);
  reactor->self_ = reactor;
  {
    MutexLock lock(&reactor->mu_);
    reactor->Advance();
  }
  streams->Add(reactor);
  return reactor.get();
}

SampleStreamReactor::SampleStreamReactor(std::shared_ptr<const ServedTables> tables,
                                         core::Clock* clock, OpenStreams* streams)
    : tables_(std::move(tables)), clock_(clock), streams_(streams) {}

Result<SampleStreamReactor::Request> SampleStreamReactor::ParseRequest() const {
  REVERB_TF_ASSIGN_OR_RETURN(const auto message,
                             ParseMessage<deepmind::reverb::SampleStreamRequest>(message_));
  if (message.num_samples() < 1) {
    return InvalidArgumentError("num_samples is " + std::to_string(message.num_samples()) +
                                "; expected at least 1");
  }
  Request request;
  REVERB_TF_ASSIGN_OR_RETURN(request.table, tables_->Find(message.table()));
  request.remaining = message.num_samples();
  request.timeout = TimeoutOf(message);
  request.batch = kFirstBatch;
  request.wants_version = message.has_min_version();
  request.min_version = message.min_version();
  if (message.has_unless_version()) request.unless_version = message.unless_version();
  return request;
}

void SampleStreamReactor::OnReadDone(bool ok) {
  Result<Request> request = ok ? ParseRequest() : Result<Request>(Request());
  message_.Clear();
  {
    MutexLock lock(&mu_);
    reading_ = false;
    if (!request.ok()) {
      EndWith(request.status());
    } else if (!ok) {
      // The end of the client's requests, or of the call (then OnCancel comes too, or we have ended
      // it).
      EndWith(OkStatus());
    } else {
      request_ = *request;
    }
    Advance();
  }
  Pump();
}

void SampleStreamReactor::Pump() {
  {
    // One thread pumps at a time: a table may call OnSampled before Sample returns.
    MutexLock lock(&mu_);
    if (pumping_) return;
    pumping_ = true;
  }
  core::Table* table;
  core::Table::SampleOptions options;
  while (NextBatch(&table, &options)) {
    const core::Table::Ticket ticket = table->Sample(
        options, [self = shared_from_this(), table](core::Table::SampleResult result) {
          self->OnSampled(table, std::move(result));
        });
    OnTicket(table, ticket);
  }
}

bool SampleStreamReactor::NextBatch(core::Table** table, core::Table::SampleOptions* options) {
  MutexLock lock(&mu_);
  if (end_status_ || sampling_ || request_.remaining == 0 ||
      responses_.size() >= kMaxQueuedResponses) {
    pumping_ = false;
    return false;
  }
  sampling_ = true;
  ticket_.reset();
  *table = request_.table;
  options->num_samples = std::min(request_.remaining, request_.batch);
  options->max_bytes = kBatchBytes;
  options->deadline = request_.timeout ? clock_->Now() + *request_.timeout : core::kNoDeadline;
  options->min_version = request_.min_version;
  options->unless_version = request_.unless_version;
  request_.batch = std::min(2 * request_.batch, kMaxBatch);
  return true;
}

void SampleStreamReactor::OnTicket(core::Table* table, core::Table::Ticket ticket) {
  {
    MutexLock lock(&mu_);
    if (!sampling_) return;
    if (!cancelled_) {
      ticket_ = ticket;
      return;
    }
  }
  // OnCancel came before there was a ticket.
  table->CancelSample(ticket);
}

void SampleStreamReactor::OnSampled(core::Table* table, core::Table::SampleResult result) {
  std::vector<grpc::ByteBuffer> responses;
  if (result.status.ok()) {
    bool with_version;
    {
      MutexLock lock(&mu_);
      with_version = request_.wants_version;
    }
    wire::SampleResponseWriter writer;
    for (core::SampledItem& sample : result.items) {
      if (!with_version) sample.version = -1;
      writer.AddSample(table->name(), sample, &responses);
    }
    if (!writer.empty()) responses.push_back(writer.Finish());
  }
  {
    MutexLock lock(&mu_);
    sampling_ = false;
    ticket_.reset();
    if (!result.status.ok()) EndWith(std::move(result.status));
    request_.remaining -= static_cast<int64_t>(result.items.size());
    if (!cancelled_) {
      for (grpc::ByteBuffer& response : responses) responses_.push_back(std::move(response));
    }
    Advance();
  }
  Pump();
}

void SampleStreamReactor::OnWriteDone(bool ok) {
  {
    MutexLock lock(&mu_);
    writing_ = false;
    responses_.pop_front();
    if (ok && !cancelled_) {
      Advance();
    } else {
      ok = false;
    }
  }
  if (ok) {
    Pump();
  } else {
    Abandon();
  }
}

void SampleStreamReactor::OnCancel() { Abandon(); }

void SampleStreamReactor::Abandon() {
  std::optional<core::Table::Ticket> ticket;
  core::Table* table;
  {
    MutexLock lock(&mu_);
    cancelled_ = true;
    ticket = ticket_;
    table = request_.table;
    if (!writing_) responses_.clear();
    EndWith(CancelledError("the call was cancelled"));
    Advance();
  }
  // The callback of a parked request is called in here, with CANCELLED.
  if (ticket) table->CancelSample(*ticket);
}

void SampleStreamReactor::OnDone() {
  streams_->Remove(this);
  const auto self = std::move(self_);
}

void SampleStreamReactor::OnServerStops() {
  MutexLock lock(&mu_);
  EndWith(wire::ServerStoppedError());
  Advance();
}

void SampleStreamReactor::EndWith(Status status) {
  if (!end_status_) end_status_ = std::move(status);
}

void SampleStreamReactor::Advance() {
  if (finished_) return;
  if (!writing_ && !responses_.empty()) {
    writing_ = true;
    StartWrite(&responses_.front());
  }
  if (end_status_) {
    if (writing_) return;
    finished_ = true;
    Finish(ToGrpcStatus(*end_status_));
  } else if (!reading_ && !sampling_ && request_.remaining == 0) {
    reading_ = true;
    StartRead(&message_);
  }
}

}  // namespace reverb_tf::server

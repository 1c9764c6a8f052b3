#include "cc/server/insert_stream_reactor.h"

#include <algorithm>
#include <utility>

#include "cc/server/grpc_status.h"
#include "cc/wire/server_stopped.h"

namespace reverb_tf::server {

InsertStreamReactor* InsertStreamReactor::Start(std::shared_ptr<const ServedTables> tables,
                                                OpenStreams* streams) {
  auto reactor = std::make_shared<InsertStreamReactor>(std::move(tables), streams);
  reactor->self_ = reactor;
  {
    MutexLock lock(&reactor->mu_);
    reactor->Advance();
  }
  streams->Add(reactor);
  return reactor.get();
}

InsertStreamReactor::InsertStreamReactor(std::shared_ptr<const ServedTables> tables,
                                         OpenStreams* streams)
    : tables_(std::move(tables)), streams_(streams) {}

void InsertStreamReactor::OnReadDone(bool ok) {
  {
    MutexLock lock(&mu_);
    reading_ = false;
    if (!ok || end_status_) {
      // The end of the client's messages, or of the call (then OnCancel comes too, or we have ended
      // it).
      EndWith(OkStatus());
      Advance();
      return;
    }
    handling_ = true;
  }
  over_soft_limit_ = false;
  Status status = HandleMessage();
  request_.Clear();
  bool drop;
  {
    MutexLock lock(&mu_);
    handling_ = false;
    if (!status.ok()) EndWith(std::move(status));
    // Whoever waits for an acknowledgement is woken by it.
    paused_ = over_soft_limit_ && unreported_items_ > 0;
    drop = cancelled_;
    Advance();
  }
  // OnCancel may have come before the items did.
  if (drop) DropParked();
}

Status InsertStreamReactor::HandleMessage() {
  Result<wire::InsertRequestReader> request = wire::InsertRequestReader::Parse(request_);
  if (!request.ok()) return request.status();
  if (request->chunks().empty() && request->num_items() == 0) {
    return InvalidArgumentError("InsertStreamRequest has neither chunks nor items");
  }
  for (core::ChunkRef& chunk : request->chunks()) chunks_.Add(std::move(chunk));
  if (request->num_items() == 0) return OkStatus();
  REVERB_TF_RETURN_IF_ERROR(HandleItems(*request));
  return chunks_.Keep(request->keep_chunk_keys());
}

Status InsertStreamReactor::HandleItems(const wire::InsertRequestReader& request) {
  const wire::ChunkLookup lookup = [this](uint64_t key) { return chunks_.Find(key); };
  Run run;
  Status error;
  for (size_t i = 0; i < request.num_items() && error.ok(); ++i) {
    Result<wire::ParsedItem> parsed = request.ParseItem(i, lookup);
    error = parsed.ok() ? SelectTable(parsed->table, &run) : parsed.status();
    if (error.ok()) run.items.push_back(std::move(parsed->item));
  }
  // What came before a bad item stays accepted.
  const Status insert_error = InsertRun(&run);
  return insert_error.ok() ? error : insert_error;
}

Status InsertStreamReactor::SelectTable(const std::string& name, Run* run) {
  if (run->table != nullptr && run->table_name == name) return OkStatus();
  REVERB_TF_RETURN_IF_ERROR(InsertRun(run));
  REVERB_TF_ASSIGN_OR_RETURN(run->table, tables_->Find(name));
  run->table_name = name;
  MutexLock lock(&mu_);
  if (std::find(used_tables_.begin(), used_tables_.end(), run->table) == used_tables_.end()) {
    used_tables_.push_back(run->table);
  }
  return OkStatus();
}

Status InsertStreamReactor::InsertRun(Run* run) {
  const size_t n = run->items.size();
  if (n == 0) return OkStatus();
  {
    MutexLock lock(&mu_);
    unreported_items_ += n;
  }
  core::Table::InsertResult result = run->table->Insert(std::move(run->items), shared_from_this());
  run->items.clear();
  over_soft_limit_ = over_soft_limit_ || result.over_soft_limit;
  if (result.num_accepted < n) {
    MutexLock lock(&mu_);
    unreported_items_ -= n - result.num_accepted;
  }
  return std::move(result.status);
}

void InsertStreamReactor::OnInserted(const uint64_t* keys, size_t n) {
  MutexLock lock(&mu_);
  unreported_items_ -= n;
  paused_ = false;
  if (finished_) return;
  acks_.insert(acks_.end(), keys, keys + n);
  Advance();
}

void InsertStreamReactor::OnDropped(const uint64_t*, size_t n, const Status& why) {
  MutexLock lock(&mu_);
  unreported_items_ -= n;
  EndWith(why);
  Advance();
}

void InsertStreamReactor::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  writing_ = false;
  response_.Clear();
  if (!ok) EndWith(CancelledError("the client is gone"));
  Advance();
}

void InsertStreamReactor::OnCancel() {
  {
    MutexLock lock(&mu_);
    cancelled_ = true;
    acks_.clear();
    EndWith(CancelledError("the call was cancelled"));
    Advance();
  }
  DropParked();
}

void InsertStreamReactor::OnDone() {
  streams_->Remove(this);
  const auto self = std::move(self_);
}

void InsertStreamReactor::OnServerStops() {
  MutexLock lock(&mu_);
  EndWith(wire::ServerStoppedError());
  Advance();
}

void InsertStreamReactor::DropParked() {
  std::vector<core::Table*> tables;
  {
    MutexLock lock(&mu_);
    tables = used_tables_;
  }
  for (core::Table* table : tables) table->CancelInserts(this);
}

void InsertStreamReactor::EndWith(Status status) {
  if (!end_status_) end_status_ = std::move(status);
}

void InsertStreamReactor::Advance() {
  // While a message is handled its acknowledgements gather, to be sent together.
  if (finished_ || handling_) return;
  if (!writing_ && !acks_.empty()) {
    response_ = wire::SerializeInsertResponse(acks_.data(), acks_.size());
    acks_.clear();
    writing_ = true;
    StartWrite(&response_);
  }
  if (end_status_) {
    if (writing_) return;
    finished_ = true;
    Finish(ToGrpcStatus(*end_status_));
  } else if (!reading_ && !paused_) {
    reading_ = true;
    StartRead(&request_);
  }
}

}  // namespace reverb_tf::server

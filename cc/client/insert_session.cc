#include "cc/client/insert_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace reverb_tf::client {
namespace {

// A stream that lived so long has reached its server: its loss is a new trouble, not the old one
// going on.
constexpr auto kHealthyStream = std::chrono::seconds(1);

}  // namespace

class InsertSession::Subject : public WaitSubject {
 public:
  Subject(InsertSession* session, const std::string& what) : session_(session), what_(what) {}
  void Refresh() override { session_->endpoint_->RefreshServerInfo(); }
  std::string Describe() override { return session_->DescribeWait(what_); }

 private:
  InsertSession* const session_;
  const std::string& what_;
};

std::shared_ptr<InsertSession> InsertSession::Create(std::shared_ptr<Endpoint> endpoint,
                                                     FailureCallback on_failure, KeySequence keys,
                                                     uint64_t first) {
  return std::shared_ptr<InsertSession>(
      new InsertSession(std::move(endpoint), std::move(on_failure), keys, first));
}

InsertSession::InsertSession(std::shared_ptr<Endpoint> endpoint, FailureCallback on_failure,
                             KeySequence keys, uint64_t first)
    : endpoint_(std::move(endpoint)),
      on_failure_(std::move(on_failure)),
      keys_(keys),
      first_(first),
      next_(first),
      retry_(endpoint_->options().patience, endpoint_->options().stop_patience) {}

InsertSession::~InsertSession() = default;

const std::string* InsertSession::InternTable(const std::string& name) {
  MutexLock lock(&mu_);
  return &*tables_.insert(name).first;
}

Result<uint64_t> InsertSession::Add(SessionItem item, const std::vector<ChunkEvent>& events) {
  MutexLock lock(&mu_);
  if (!status_.ok()) return status_;
  Apply(events);
  AddEntry(std::move(item));
  NoteRoom();
  return keys_.Key(first_ + entries_.size() - 1);
}

Result<uint64_t> InsertSession::AddAll(std::vector<SessionItem> items,
                                       const std::vector<ChunkEvent>& events) {
  MutexLock lock(&mu_);
  if (!status_.ok()) return status_;
  Apply(events);
  const uint64_t number = first_ + entries_.size();
  for (SessionItem& item : items) AddEntry(std::move(item));
  NoteRoom();
  return number;
}

void InsertSession::AddEntry(SessionItem item) {
  ++unconfirmed_;
  unconfirmed_bytes_ += item.bytes;
  entries_.push_back({std::move(item)});
}

void InsertSession::NoteChunks(const std::vector<ChunkEvent>& events) {
  MutexLock lock(&mu_);
  Apply(events);
}

void InsertSession::Send() {
  {
    MutexLock lock(&mu_);
    if (pumping_ || !CanWrite()) return;
  }
  Pump();
}

void InsertSession::NoteRoom() {
  full_.store(unconfirmed_ >= max_unconfirmed_items_ || unconfirmed_bytes_ >= kMaxUnconfirmedBytes,
              std::memory_order_relaxed);
}

void InsertSession::Apply(const std::vector<ChunkEvent>& events) {
  for (const ChunkEvent& event : events) {
    if (event.live) {
      chunks_[event.key].live = true;
      continue;
    }
    const auto found = chunks_.find(event.key);
    if (found == chunks_.end()) continue;
    found->second.live = false;
    if (!found->second.sent) chunks_.erase(found);  // else the next batch says that it may go
  }
}

Status InsertSession::status() const {
  if (!ended_.load(std::memory_order_acquire)) return OkStatus();
  MutexLock lock(&mu_);
  return status_;
}

int64_t InsertSession::unconfirmed() const {
  MutexLock lock(&mu_);
  return unconfirmed_;
}

void InsertSession::StopRetrying() {
  Status failure;
  {
    MutexLock lock(&mu_);
    retrying_ = false;
    if (pausing_ && !entries_.empty()) failure = GiveUp(last_cause_);
  }
  if (!failure.ok()) Fail(failure);
}

Status InsertSession::WaitForConfirmations(int64_t max_unconfirmed, const WaitOptions& wait,
                                           const std::string& what) {
  Subject subject(this, what);
  MutexLock lock(&mu_);
  ++waiters_;
  Status waited = BlockUntil(
      &mu_, &progress_, endpoint_->clock(), wait, &subject,
      [&]() NO_THREAD_SAFETY_ANALYSIS { return !status_.ok() || unconfirmed_ <= max_unconfirmed; });
  --waiters_;
  return status_.ok() ? waited : status_;
}

Status InsertSession::WaitForRoom(const WaitOptions& wait) {
  if (!full_.load(std::memory_order_relaxed)) return status();
  const std::string what = "CreateItem";
  Subject subject(this, what);
  MutexLock lock(&mu_);
  ++waiters_;
  Status waited = BlockUntil(&mu_, &progress_, endpoint_->clock(), wait, &subject,
                             [&]() NO_THREAD_SAFETY_ANALYSIS {
                               return !status_.ok() || !full_.load(std::memory_order_relaxed);
                             });
  --waiters_;
  return status_.ok() ? waited : status_;
}

std::string InsertSession::DescribeWait(const std::string& what) {
  std::string table;
  int64_t unconfirmed = 0;
  {
    MutexLock lock(&mu_);
    unconfirmed = unconfirmed_;
    if (!entries_.empty()) table = *entries_.front().item.table;
    if (pausing_ && !last_cause_.ok()) {
      return what + " waits for " + std::to_string(unconfirmed) +
             " unconfirmed items, but server " + endpoint_->address() +
             " cannot be reached: " + last_cause_.message();
    }
  }
  return what + " waits for " + std::to_string(unconfirmed) + " unconfirmed items, the first for " +
         endpoint_->DescribeTable(table, Endpoint::Operation::kInsert);
}

bool InsertSession::CanWrite() const {
  return status_.ok() && !writing_ && !pausing_ && next_ < first_ + entries_.size();
}

void InsertSession::Pump() {
  {
    MutexLock lock(&mu_);
    if (pumping_) return;
    pumping_ = true;
  }
  Status failure;
  while (true) {
    std::shared_ptr<InsertStream> stream;
    InsertBatch batch;
    {
      MutexLock lock(&mu_);
      if (!failure.ok() || !CanWrite()) {
        pumping_ = false;
        break;
      }
      if (stream_ == nullptr) {
        Result<std::shared_ptr<Transport>> transport = endpoint_->transport();
        if (!transport.ok()) {
          failure = transport.status();
          continue;
        }
        transport_ = std::move(transport).value();
        stream_since_ = endpoint_->clock()->Now();
        written_once_ = false;
        stream_ = transport_->OpenInsertStream(shared_from_this());
      }
      batch = NextBatch();
      if (batch.items.empty() && batch.chunks.empty()) continue;
      stream = stream_;
      writing_ = true;
    }
    stream->Write(std::move(batch));
  }
  if (!failure.ok()) Fail(failure);
}

InsertBatch InsertSession::NextBatch() {
  InsertBatch batch;
  size_t bytes = 0;
  ++batches_;
  const uint64_t end = first_ + entries_.size();
  batch.items.reserve(end - next_);
  for (; next_ < end && bytes < kMessageBytes; ++next_) {
    const Entry& entry = entries_[next_ - first_];
    if (entry.confirmed) continue;
    const core::TrajectoryRef& trajectory = entry.item.trajectory;
    if (transport_->holds_chunks() && !AddChunks(*trajectory, &batch, &bytes)) break;
    core::NewItem item;
    item.key = keys_.Key(next_);
    item.priority = entry.item.priority;
    item.trajectory = trajectory;
    batch.items.push_back({entry.item.table, std::move(item)});
  }
  if (transport_->holds_chunks() && !batch.items.empty()) ChooseKeepKeys(&batch);
  return batch;
}

bool InsertSession::AddChunks(const core::Trajectory& trajectory, InsertBatch* batch,
                              size_t* bytes) {
  for (int i = 0; i < trajectory.num_chunks(); ++i) {
    const core::ChunkRef& chunk = trajectory.chunk(i);
    ChunkState& state = chunks_[chunk->key()];
    if (state.sent) continue;
    if (*bytes >= kMessageBytes) return false;
    state.sent = true;
    *bytes += chunk->num_bytes();
    batch->chunks.push_back(chunk);
  }
  return true;
}

void InsertSession::ChooseKeepKeys(InsertBatch* batch) {
  // Usually everything queued is in the batch; only full messages leave something.
  for (uint64_t i = next_; i < first_ + entries_.size(); ++i) {
    const Entry& entry = entries_[i - first_];
    if (entry.confirmed) continue;
    for (int j = 0; j < entry.item.trajectory->num_chunks(); ++j) {
      const auto found = chunks_.find(entry.item.trajectory->chunk(j)->key());
      if (found != chunks_.end()) found->second.needed_in = batches_;
    }
  }
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    const ChunkState& state = it->second;
    const bool needed = state.live || state.needed_in == batches_;
    if (needed && state.sent) batch->keep_chunk_keys.push_back(it->first);
    it = needed ? std::next(it) : chunks_.erase(it);
  }
}

void InsertSession::OnWritten() {
  {
    MutexLock lock(&mu_);
    writing_ = false;
    written_once_ = true;
    if (pumping_ || !CanWrite()) return;
  }
  Pump();
}

void InsertSession::OnConfirmed(const uint64_t* keys, size_t n) {
  std::vector<SessionItem> confirmed;  // released without the lock
  confirmed.reserve(n);
  std::vector<SessionWaits::Wait> over;
  {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t place = keys_.Index(keys[i]) - first_;
      if (place >= entries_.size() || entries_[place].confirmed) continue;
      Entry& entry = entries_[place];
      entry.confirmed = true;
      --unconfirmed_;
      unconfirmed_bytes_ -= entry.item.bytes;
      confirmed.push_back(std::move(entry.item));
    }
    while (!entries_.empty() && entries_.front().confirmed) {
      entries_.pop_front();
      ++first_;
    }
    next_ = std::max(next_, first_);
    NoteRoom();
    if (!confirmed.empty()) retry_.Reset();
    if (waiters_ > 0) progress_.NotifyAll();
    if (!waits_.empty()) over = waits_.TakeReady(unconfirmed_, full_);
  }
  for (const SessionItem& item : confirmed) {
    if (item.listener != nullptr) item.listener->OnItemConfirmed();
  }
  EndWaits(over, OkStatus());
}

void InsertSession::OnClosed(const Status& why) {
  std::shared_ptr<InsertStream> stream;
  Status failure;
  {
    MutexLock lock(&mu_);
    stream.swap(stream_);
    const std::shared_ptr<Transport> transport = std::move(transport_);
    transport_ = nullptr;
    writing_ = false;
    next_ = first_;
    for (auto it = chunks_.begin(); it != chunks_.end();) {
      it->second.sent = false;
      it = it->second.live ? std::next(it) : chunks_.erase(it);
    }
    if (!status_.ok()) return;
    const core::TimePoint now = endpoint_->clock()->Now();
    if (written_once_ && now - stream_since_ >= kHealthyStream) retry_.Reset();
    if (!transport->IsTransient(why)) {
      failure = why;
    } else if (!entries_.empty()) {
      last_cause_ = why;
      const auto when = retrying_ ? retry_.NextTry(now, why) : std::nullopt;
      if (when) {
        ScheduleReconnect(*when);
      } else {
        failure = GiveUp(why);
      }
    }
  }
  if (!failure.ok()) Fail(failure);
}

Status InsertSession::GiveUp(const Status& cause) const {
  if (retrying_) return retry_.Exhausted(endpoint_->address(), cause);
  return UnavailableError("Server " + endpoint_->address() +
                          " cannot be reached: " + cause.message());
}

void InsertSession::ScheduleReconnect(core::TimePoint when) {
  pausing_ = true;
  endpoint_->clock()->CallAt(when, [weak = weak_from_this()] {
    const std::shared_ptr<InsertSession> self = weak.lock();
    if (self == nullptr) return;
    {
      MutexLock lock(&self->mu_);
      self->pausing_ = false;
    }
    self->Pump();
  });
}

void InsertSession::Fail(const Status& status) {
  std::deque<Entry> entries;  // released without the lock
  std::shared_ptr<InsertStream> stream;
  std::vector<SessionWaits::Wait> over;
  {
    MutexLock lock(&mu_);
    if (!status_.ok()) return;
    status_ = status;
    ended_.store(true, std::memory_order_release);
    entries.swap(entries_);
    unconfirmed_ = 0;
    unconfirmed_bytes_ = 0;
    stream = stream_;
    progress_.NotifyAll();
    over = waits_.TakeAll();
  }
  if (stream != nullptr) stream->Cancel();
  EndWaits(over, status);
  if (on_failure_) on_failure_(status);
}

void InsertSession::Close() { Fail(CancelledError("The writer is closed.")); }

}  // namespace reverb_tf::client

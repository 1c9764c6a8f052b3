#include "cc/client/local_insert_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf::client {
namespace {

// Tables take no chunks in pieces. Items of the same trajectory go on to share one.
void ToOnePiece(std::vector<OutgoingItem>* items) {
  core::TrajectoryRef last, copy;
  for (OutgoingItem& outgoing : *items) {
    core::TrajectoryRef& trajectory = outgoing.item.trajectory;
    if (trajectory->chunk_bytes() < wire::kMinBytesInPieces) continue;
    if (trajectory != last) {
      last = trajectory;
      copy = core::Trajectory::InOnePiece(trajectory);
    }
    trajectory = copy;
  }
}

class LocalInsertStream : public InsertStream,
                          public core::InsertObserver,
                          public std::enable_shared_from_this<LocalInsertStream> {
 public:
  LocalInsertStream(std::shared_ptr<const core::LocalServer> server,
                    std::shared_ptr<InsertStreamObserver> observer)
      : server_(std::move(server)), observer_(std::move(observer)) {}

  void Write(InsertBatch batch) override {
    const std::shared_ptr<InsertStreamObserver> observer = Observer();
    if (observer == nullptr) return;
    ToOnePiece(&batch.items);
    for (size_t first = 0; first < batch.items.size();) {
      size_t end = first + 1;
      while (end < batch.items.size() && *batch.items[end].table == *batch.items[first].table) {
        ++end;
      }
      Status status = InsertRun(&batch.items[first], end - first);
      if (!status.ok()) return Finish(status);
      first = end;
    }
    if (ReadyForMore()) observer->OnWritten();
  }

  void Cancel() override { Finish(CancelledError("The stream was cancelled.")); }

  void OnInserted(const uint64_t* keys, size_t n) override {
    std::shared_ptr<InsertStreamObserver> observer;
    bool resume = false;
    {
      MutexLock lock(&mu_);
      observer = observer_;
      parked_ -= static_cast<int64_t>(n);
      resume = paused_ && parked_ <= 0;
      if (resume) paused_ = false;
    }
    if (observer == nullptr) return;
    observer->OnConfirmed(keys, n);
    if (resume) observer->OnWritten();
  }

  void OnDropped(const uint64_t* keys, size_t n, const Status& why) override { Finish(why); }

 private:
  // Gives n items for one table to it.
  Status InsertRun(OutgoingItem* items, size_t n) {
    const std::string& name = *items[0].table;
    if (table_ == nullptr || table_->name() != name) {
      table_ = server_->Find(name);
      if (table_ == nullptr) return TableNotFoundError(name);
      MutexLock lock(&mu_);
      if (std::find(tables_.begin(), tables_.end(), table_) == tables_.end()) {
        tables_.push_back(table_);
      }
    }
    std::vector<core::NewItem> run;
    run.reserve(n);
    for (size_t i = 0; i < n; ++i) run.push_back(std::move(items[i].item));
    {
      MutexLock lock(&mu_);
      parked_ += static_cast<int64_t>(n);
    }
    core::Table::InsertResult result = table_->Insert(std::move(run), shared_from_this());
    if (result.over_soft_limit) over_soft_limit_ = true;
    return result.status;
  }

  // After a batch: true when the next one may come at once; otherwise OnInserted calls for it.
  bool ReadyForMore() {
    const bool over_soft_limit = std::exchange(over_soft_limit_, false);
    MutexLock lock(&mu_);
    if (observer_ == nullptr) return false;
    paused_ = over_soft_limit && parked_ > 0;
    return !paused_;
  }

  std::shared_ptr<InsertStreamObserver> Observer() {
    MutexLock lock(&mu_);
    return observer_;
  }

  void Finish(const Status& why) {
    std::shared_ptr<InsertStreamObserver> observer;
    std::vector<std::shared_ptr<core::Table>> tables;
    {
      MutexLock lock(&mu_);
      observer = std::move(observer_);
      observer_ = nullptr;
      tables.swap(tables_);
    }
    if (observer == nullptr) return;
    for (const auto& table : tables) table->CancelInserts(this);
    observer->OnClosed(why);
  }

  const std::shared_ptr<const core::LocalServer> server_;
  std::shared_ptr<core::Table> table_;  // of the last item; used by Write only
  bool over_soft_limit_ = false;        // used by Write only

  Mutex mu_;
  std::shared_ptr<InsertStreamObserver> observer_ GUARDED_BY(mu_);    // null: ended
  std::vector<std::shared_ptr<core::Table>> tables_ GUARDED_BY(mu_);  // that have seen this stream
  int64_t parked_ GUARDED_BY(mu_) = 0;                                // given, not reported yet
  bool paused_ GUARDED_BY(mu_) = false;
};

}  // namespace

std::shared_ptr<InsertStream> MakeLocalInsertStream(
    std::shared_ptr<const core::LocalServer> server,
    std::shared_ptr<InsertStreamObserver> observer) {
  return std::make_shared<LocalInsertStream>(std::move(server), std::move(observer));
}

Status TableNotFoundError(const std::string& table) {
  return NotFoundError("Priority table " + table + " was not found.");
}

}  // namespace reverb_tf::client

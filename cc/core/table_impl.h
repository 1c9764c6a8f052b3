// The lock of a table, its parked operations, and the loop that executes them.
#ifndef REVERB_TF_CORE_TABLE_IMPL_H_
#define REVERB_TF_CORE_TABLE_IMPL_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cc/core/insert_notices.h"
#include "cc/core/mutex.h"
#include "cc/core/parked_inserts.h"
#include "cc/core/table.h"
#include "cc/core/table_state.h"

namespace reverb_tf::core {

// An operation locks, parks itself, pumps (executes what the limiter allows, first in first out),
// unlocks, and then settles: calls back and frees. Lock order: mu_, then the mutex of notices_.
class Table::Impl {
 public:
  Impl(TableOptions options, std::unique_ptr<Selector> sampler, std::unique_ptr<Selector> remover,
       Clock* clock);

  // See Table. The caller keeps the table alive during the call; `self` is for timers.
  InsertResult Insert(std::vector<NewItem> items, const std::shared_ptr<InsertObserver>& observer);
  void CancelInserts(const InsertObserver* observer);
  Ticket Sample(const SampleOptions& options, SampleCallback callback, std::weak_ptr<Table> self);
  bool CancelSample(Ticket ticket);
  Status Mutate(const PriorityUpdate* updates, size_t num_updates, const uint64_t* deletes,
                size_t num_deletes, int64_t* num_deleted);
  Status Reset();
  Status SetRateLimiter(const RateLimiterOptions& options);
  void Close();
  std::optional<SampledItem> Get(uint64_t key) const;
  Result<std::vector<SampledItem>> Get(const uint64_t* keys, size_t n) const;
  Result<ItemPage> List(uint64_t start, int64_t max_items) const;
  bool CanSample(int64_t n) const;
  bool CanInsert(int64_t n) const;
  TableInfo Info();
  TableOptions Settings() const;
  int64_t Size() const;
  static std::vector<TableSnapshot> SnapshotAll(std::vector<const Impl*> tables);
  Result<int64_t> Restore(TableSnapshot snapshot);
  const TableOptions& options() const { return options_; }

 private:
  struct SampleRequest {
    SampleOptions options;
    SampleCallback callback;
    std::vector<SampledItem> items;
    size_t bytes = 0;         // of their chunks
    bool has_waited = false;  // it was parked
    Clock::TimerId timer = Clock::kNoTimer;

    bool IsFull() const {
      return static_cast<int64_t>(items.size()) >= options.num_samples ||
             (bytes >= options.max_bytes && !items.empty());
    }
  };
  // In the order of arrival. Between pumps no request holds items. Nodes are made and freed without
  // the lock.
  using SampleQueue = std::map<Ticket, SampleRequest>;

  // What an operation leaves to be done without the lock.
  struct Aftermath {
    std::vector<SampleQueue::node_type> requests;  // finished
    std::vector<InsertNotice> notices;
    std::vector<InsertBatch> batches;
    TableState::Discarded discarded;
  };

  Status CheckItem(const NewItem& item) const;
  Status CheckSnapshot(const TableSnapshot& snapshot) const;
  Status ClosedError() const;
  Status LateError(const SampleOptions& options) const REQUIRES(mu_);
  static SampleQueue::node_type MakeRequest(Ticket ticket, const SampleOptions& options,
                                            SampleCallback callback);

  // Executes parked operations until none can go on.
  void Pump(int64_t now_nanos, Aftermath* aftermath) REQUIRES(mu_);
  // Queues requests whose version has come; whether there were any.
  bool AdmitRequests() REQUIRES(mu_);
  bool PumpInsert(int64_t now_nanos, Aftermath* aftermath) REQUIRES(mu_);
  bool PumpSample(Aftermath* aftermath) REQUIRES(mu_);
  void FinishFirstRequest(Aftermath* aftermath) REQUIRES(mu_);
  // Calls back, without the lock.
  void Settle(Aftermath* aftermath) EXCLUDES(mu_);
  // OK: with its items.
  void FinishRequest(SampleQueue::node_type node, Status status) EXCLUDES(mu_);
  // A parked request, null if it is not parked any more; Take takes it out.
  SampleRequest* Find(Ticket ticket) REQUIRES(mu_);
  SampleQueue::node_type Take(Ticket ticket) REQUIRES(mu_);

  // Expires the request at its deadline.
  void SetTimer(Ticket ticket, TimePoint deadline, std::weak_ptr<Table> self) EXCLUDES(mu_);
  // Calls the request back with DEADLINE_EXCEEDED, if it is still parked.
  void Expire(Ticket ticket) EXCLUDES(mu_);

  const TableOptions options_;  // the rate limiter's: as the table was made
  Clock* const clock_;
  const int64_t soft_limit_;  // of parked inserts
  std::atomic<Ticket> last_ticket_{0};
  InsertNotices notices_;

  mutable Mutex mu_;
  bool closed_ GUARDED_BY(mu_) = false;
  TableState
      state_;  // guarded by mu_ but for CheckPriority, sampler() and remover(), which do not change
  ParkedInserts inserts_ GUARDED_BY(mu_);
  SampleQueue requests_ GUARDED_BY(mu_);
  SampleQueue early_requests_ GUARDED_BY(mu_);  // for versions that the table does not have yet
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TABLE_IMPL_H_

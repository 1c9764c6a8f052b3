// A table: items, sampler, remover, rate limiter, and the calls that wait for the limiter.
#ifndef REVERB_TF_CORE_TABLE_H_
#define REVERB_TF_CORE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cc/core/clock.h"
#include "cc/core/priority_stats.h"
#include "cc/core/selector.h"
#include "cc/core/table_snapshot.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/item_info.h"
#include "reverb_tf/status.h"
#include "reverb_tf/table.h"

namespace reverb_tf::core {

struct NewItem {
  uint64_t key = 0;
  double priority = 0;
  int32_t times_sampled = 0;
  TrajectoryRef trajectory;
};

struct SampledItem {
  uint64_t key = 0;
  double probability = 0;
  double priority = 0;
  int64_t table_size = 0;         // before a deletion that this sample caused
  int64_t inserted_at_nanos = 0;  // since the Unix epoch
  int64_t version = -1;           // of the table at that moment; -1: not known
  int32_t times_sampled = 0;      // this one included
  bool rate_limited = false;      // handed out after its request had to wait
  TrajectoryRef trajectory;
};

struct PriorityUpdate {
  uint64_t key = 0;
  double priority = 0;
};

struct TableInfo {
  std::string name;
  SelectorOptions sampler;
  SelectorOptions remover;
  bool sampler_is_deterministic = false;
  bool remover_is_deterministic = false;
  int64_t max_size = 0;
  int32_t max_times_sampled = 0;
  RateLimiterOptions rate_limiter;
  int64_t inserts = 0;  // of the rate limiter
  int64_t samples = 0;
  int64_t deletes = 0;
  std::optional<std::string> signature;
  int64_t current_size = 0;
  int64_t num_episodes = 0;
  int64_t num_deleted_episodes = 0;
  int64_t num_unique_samples = 0;
  int64_t version = 0;
  int64_t memory_bytes =
      0;  // of item rows, indices and selectors; trajectories and chunks are not in it
  int64_t data_bytes = 0;       // of the chunks of each item; shared ones count for each of them
  int64_t waiting_inserts = 0;  // items
  int64_t waiting_samples = 0;  // requests
  int64_t samples_allowed = 0;  // RateLimiter::NumSamplesAllowed
  int64_t inserts_allowed = 0;
  std::string sample_state;  // RateLimiter::ExplainSample
  std::string insert_state;
  PriorityStats priorities;
};

// Hears what became of the items given to Table::Insert. Called without the table's lock, from any
// thread that made the table progress, for one table in the order of execution. Must not block.
class InsertObserver {
 public:
  virtual ~InsertObserver() = default;
  // The items are in the table (or, for keys it already held, their priority is updated).
  virtual void OnInserted(const uint64_t* keys, size_t n) = 0;
  // The items are not in the table and will not be: the table was closed.
  virtual void OnDropped(const uint64_t* keys, size_t n, const Status& why) = 0;
};

// Thread-safe. One mutex; a batch of operations takes it once. Nothing blocks: an operation that
// the rate limiter does not allow yet is parked, first in first out within its kind, and is
// executed by the thread whose operation makes it possible. Callbacks run without the lock and may
// call the table again; they may run on any thread that calls the table, so a caller must hold no
// lock that a callback takes. Trajectories are never freed under the lock.
//
// The version of a table is the number of items that were ever inserted, also over resets and
// checkpoints; updates of priorities do not count. In a table of one item it is that of the item.
//
// Inserts and samples alternate while both can go on. A sample request is finished as soon as it
// has the number asked for, or has something and nothing more can be taken now, or its bytes reach
// its limit.
class Table : public std::enable_shared_from_this<Table> {
 public:
  // INVALID_ARGUMENT names the option and the value. `clock` must outlive the table.
  static Result<std::shared_ptr<Table>> Create(TableOptions options,
                                               Clock* clock = Clock::System());
  // With selectors of the caller, empty ones; options.sampler and options.remover are not looked
  // at.
  static Result<std::shared_ptr<Table>> Create(TableOptions options,
                                               std::unique_ptr<Selector> sampler,
                                               std::unique_ptr<Selector> remover, Clock* clock);
  // Closes.
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const std::string& name() const;

  struct InsertResult {
    // The first item that was refused (INVALID_ARGUMENT, naming value and table), or CANCELLED for
    // a closed table. Items before it are accepted, it and those after it are not.
    Status status;
    size_t num_accepted = 0;
    // More items are parked than the table likes: max(1, min(0.1 * max_size, 1000)). The caller
    // should give no more before it has heard of the ones given.
    bool over_soft_limit = false;
  };
  // Executes or parks the items in order. The observer hears of every accepted item exactly once,
  // perhaps before this returns.
  InsertResult Insert(std::vector<NewItem> items, const std::shared_ptr<InsertObserver>& observer);

  // Removes what is parked for the observer, which hears nothing more of it. (Items being executed
  // at this moment may still be reported.)
  void CancelInserts(const InsertObserver* observer);

  struct SampleOptions {
    int64_t num_samples = 1;  // at most so many; >= 1
    size_t max_bytes =
        SIZE_MAX;  // finished once the chunks of its items are so many bytes; always >= 1 item
    TimePoint deadline = kNoDeadline;  // of being parked; in the past: what can be had at once
    int64_t min_version = 0;           // parked until the table has it, whatever comes behind
    // Of this version nothing is wanted: not parked then, but finished as if late.
    std::optional<int64_t> unless_version;
  };
  struct SampleResult {
    // OK with at least one item, or one of: DEADLINE_EXCEEDED "Rate Limiter: Timeout exceeded
    // before the right to insert was acquired." followed by the table's name and the limiter's
    // numbers, or the versions; CANCELLED: table closed or request cancelled. Never items with an
    // error.
    Status status;
    std::vector<SampledItem> items;
  };
  using SampleCallback = std::function<void(SampleResult)>;
  using Ticket = uint64_t;
  // The callback is called exactly once, perhaps before this returns.
  Ticket Sample(const SampleOptions& options, SampleCallback callback);

  // True: the request was parked; its callback has been called with CANCELLED, no item was taken.
  // False: it is finished or is being finished by another thread.
  bool CancelSample(Ticket ticket);

  // Deletes, then updates. Every priority is checked first: INVALID_ARGUMENT names key and value,
  // and nothing has happened. Unknown keys are ignored; `num_deleted`, if not null, receives how
  // many of `deletes` were there.
  Status Mutate(const PriorityUpdate* updates, size_t num_updates, const uint64_t* deletes,
                size_t num_deletes, int64_t* num_deleted = nullptr);

  // Empties the table and sets the counters to zero. Parked operations stay, and go on by the
  // limiter's rule.
  Status Reset();

  // Another rule for inserts and samples from now on; what was counted stays. Parked operations go
  // on by the new rule. INVALID_ARGUMENT as RateLimiter::Check; CANCELLED for a closed table.
  Status SetRateLimiter(const RateLimiterOptions& options);

  // Parked and later operations end with CANCELLED. Idempotent. The items stay until the last
  // reference to the table goes.
  void Close();

  // A look at one item, which is not counted as a sample (probability 0). Nullopt for an unknown
  // key.
  std::optional<SampledItem> Get(uint64_t key) const;
  // The same for many keys, in their order; unknown ones are left out. The lock is taken once for
  // each 256 keys. CANCELLED for a closed table.
  Result<std::vector<SampledItem>> Get(const uint64_t* keys, size_t n) const;
  // A page of all items in an order that only the table knows: at most `max_items` (>= 1) and at
  // most kMaxPage, perhaps none, from `start` on, which is 0 or `next` of the page before. An item
  // that is in the table from the first page of a listing to the last is in exactly one of them,
  // whatever else comes and goes. The lock is held once, for O(max_items). CANCELLED for a closed
  // table.
  inline static constexpr int64_t kMaxPage = 10000;
  Result<ItemPage> List(uint64_t start, int64_t max_items) const;

  // n >= 1.
  bool CanSample(int64_t n) const;
  bool CanInsert(int64_t n) const;
  // Statistics of the priorities are brought up to date in pieces, for each of which the lock is
  // held for about 50 us, and only where something has changed since the last call. So those of a
  // table of more than 8192 items may be of several moments; all else is of one.
  TableInfo Info() const;
  // As given, with the options of the selectors and the limiter in use, without the seed.
  TableOptions Settings() const;
  // One line for people.
  std::string DebugString() const;

  // What the tables, which are distinct, hold at one moment: in none of them is anything that was
  // done after something that is missing in another. The tables stand still while rows and
  // references are copied; the rest is done without their locks.
  static std::vector<TableSnapshot> SnapshotAll(const std::vector<std::shared_ptr<Table>>& tables);

  // Fills a table that was not used yet (else FAILED_PRECONDITION), past the rate limiter, whose
  // counts are then those of the snapshot. The table keeps its own settings. INVALID_ARGUMENT: a
  // key comes twice or an item is refused; nothing has happened then. Returns how many items were
  // removed again, counted as deletes: those that were sampled max_times_sampled times, and those
  // above max_size, by the remover's choice.
  Result<int64_t> Restore(TableSnapshot snapshot);

 private:
  class Impl;
  explicit Table(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TABLE_H_

// Brings items to a server, in order, through lost connections.
#ifndef REVERB_TF_CLIENT_INSERT_SESSION_H_
#define REVERB_TF_CLIENT_INSERT_SESSION_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cc/client/endpoint.h"
#include "cc/client/key_sequence.h"
#include "cc/client/retry.h"
#include "cc/client/session_waits.h"
#include "cc/client/transport.h"
#include "cc/client/wait.h"
#include "cc/core/mutex.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Hears of the items of a session that were given with it. Called without locks, from any thread;
// must not block.
class ConfirmationListener {
 public:
  virtual ~ConfirmationListener() = default;
  // One more of its items is in its table.
  virtual void OnItemConfirmed() = 0;
};

struct SessionItem {
  const std::string* table = nullptr;  // of InternTable
  double priority = 0;
  core::TrajectoryRef trajectory;
  size_t bytes = 0;  // for back-pressure: what it adds to the memory that waits for confirmation
  std::shared_ptr<ConfirmationListener> listener;  // may be null
};

// A chunk begins or ceases to be of use to items that do not exist yet.
struct ChunkEvent {
  uint64_t key = 0;
  bool live = false;
};

// One insert stream at a time, opened when there is something to send. What gathers while a write
// is going on goes out together in the next one. After a lost connection everything unconfirmed is
// sent again, in order, with the same keys. Items get their keys by their number: number i has
// keys().Key(i).
//
// Thread-safe. Nothing blocks but the Wait functions. Kept alive by
// its stream; the owner calls Close.
class InsertSession : public InsertStreamObserver,
                      public std::enable_shared_from_this<InsertSession> {
 public:
  // Called once, without locks, when the session has failed for good.
  using FailureCallback = std::function<void(const Status&)>;

  // `first` is the number of the first item.
  static std::shared_ptr<InsertSession> Create(std::shared_ptr<Endpoint> endpoint,
                                               FailureCallback on_failure = nullptr,
                                               KeySequence keys = KeySequence(),
                                               uint64_t first = 0);
  ~InsertSession() override;

  const KeySequence& keys() const { return keys_; }

  // How many unconfirmed items are too many for WaitForRoom; before anything else is called.
  void LimitItems(int64_t max_unconfirmed) { max_unconfirmed_items_ = max_unconfirmed; }

  // The name, for as long as the session lives.
  const std::string* InternTable(const std::string& name) EXCLUDES(mu_);

  // Takes note of chunks, then adds the next item. Returns its key, or the status if the session
  // has failed. Nothing is sent, and no callback called, before Send.
  Result<uint64_t> Add(SessionItem item, const std::vector<ChunkEvent>& events) EXCLUDES(mu_);
  // The same for many items, which follow each other; returns the number of the first.
  Result<uint64_t> AddAll(std::vector<SessionItem> items, const std::vector<ChunkEvent>& events)
      EXCLUDES(mu_);
  // Only takes note of chunks.
  void NoteChunks(const std::vector<ChunkEvent>& events) EXCLUDES(mu_);
  // Sends what there is, unless a write is going on: then it goes out with the next one.
  void Send() EXCLUDES(mu_);

  // Not OK once failed or closed. Cheap.
  Status status() const EXCLUDES(mu_);

  // Until at most so many items are unconfirmed.
  Status WaitForConfirmations(int64_t max_unconfirmed, const WaitOptions& wait,
                              const std::string& what) EXCLUDES(mu_);
  // Until there is room for more items: bounds the memory of what is unconfirmed.
  Status WaitForRoom(const WaitOptions& wait) EXCLUDES(mu_);

  // The same two without blocking. The callback comes once, without locks, from any thread, perhaps
  // before this returns. The returned function makes it come now, with CANCELLED.
  CancelFunction WhenConfirmed(int64_t max_unconfirmed, const std::string& what, Duration timeout,
                               SessionWaits::Callback callback) EXCLUDES(mu_);
  CancelFunction WhenRoom(Duration timeout, SessionWaits::Callback callback) EXCLUDES(mu_);

  int64_t unconfirmed() const EXCLUDES(mu_);

  // From now on a lost connection is not tried again: it fails the session, at once if it is lost
  // already.
  void StopRetrying() EXCLUDES(mu_);

  // Unconfirmed items are given up; the status becomes CANCELLED. Idempotent.
  void Close() EXCLUDES(mu_);

  void OnWritten() override EXCLUDES(mu_);
  void OnConfirmed(const uint64_t* keys, size_t n) override EXCLUDES(mu_);
  void OnClosed(const Status& why) override EXCLUDES(mu_);

  inline static constexpr size_t kMaxUnconfirmedBytes = 64 << 20;
  inline static constexpr int64_t kMaxUnconfirmedItems = 4096;
  // A message is closed when its chunks are larger.
  inline static constexpr size_t kMessageBytes = 4 << 20;

 private:
  struct Entry {
    SessionItem item;
    bool confirmed = false;
  };
  struct ChunkState {
    bool live = false;       // items may use it later
    bool sent = false;       // the stream holds it
    uint64_t needed_in = 0;  // number of the batch after which it is still needed by queued items
  };
  class Subject;

  InsertSession(std::shared_ptr<Endpoint> endpoint, FailureCallback on_failure, KeySequence keys,
                uint64_t first);

  // Writes batch after batch as long as that is possible. Called by everyone who made it possible.
  void Pump() EXCLUDES(mu_);
  bool CanWrite() const REQUIRES(mu_);
  void AddEntry(SessionItem item) REQUIRES(mu_);
  void NoteRoom() REQUIRES(mu_);
  InsertBatch NextBatch() REQUIRES(mu_);
  // Adds the chunks of an item that the stream does not hold; false when the message is full before
  // all are in.
  bool AddChunks(const core::Trajectory& trajectory, InsertBatch* batch, size_t* bytes)
      REQUIRES(mu_);
  void ChooseKeepKeys(InsertBatch* batch) REQUIRES(mu_);
  void Apply(const std::vector<ChunkEvent>& events) REQUIRES(mu_);
  void Fail(const Status& status) EXCLUDES(mu_);
  Status GiveUp(const Status& cause) const REQUIRES(mu_);
  void ScheduleReconnect(core::TimePoint when) REQUIRES(mu_);
  std::string DescribeWait(const std::string& what) EXCLUDES(mu_);
  CancelFunction Wait(SessionWaits::Wait wait) EXCLUDES(mu_);
  void EndWaits(const std::vector<SessionWaits::Wait>& waits, const Status& status) EXCLUDES(mu_);
  void SetTimer(uint64_t number) REQUIRES(mu_);
  void OnTimer(uint64_t number) EXCLUDES(mu_);
  // Says in time what the waits of WhenConfirmed and WhenRoom are for.
  void Watch(core::TimePoint when) REQUIRES(mu_);
  void OnWatch() EXCLUDES(mu_);

  const std::shared_ptr<Endpoint> endpoint_;
  const FailureCallback on_failure_;
  const KeySequence keys_;
  int64_t max_unconfirmed_items_ = kMaxUnconfirmedItems;
  std::atomic<bool> ended_{false};  // status_ is not OK
  std::atomic<bool> full_{false};   // there is no room

  mutable Mutex mu_;
  CondVar progress_;
  Status status_ GUARDED_BY(mu_);
  // Items first_ + i, confirmed ones only behind unconfirmed ones. next_ is the number of the next
  // to be sent.
  std::deque<Entry> entries_ GUARDED_BY(mu_);
  uint64_t first_ GUARDED_BY(mu_) = 0;
  uint64_t next_ GUARDED_BY(mu_) = 0;
  int64_t unconfirmed_ GUARDED_BY(mu_) = 0;
  size_t unconfirmed_bytes_ GUARDED_BY(mu_) = 0;
  std::set<std::string> tables_ GUARDED_BY(mu_);
  int waiters_ GUARDED_BY(mu_) = 0;  // threads
  SessionWaits waits_ GUARDED_BY(mu_);
  bool watching_ GUARDED_BY(mu_) = false;
  std::unordered_map<uint64_t, ChunkState> chunks_ GUARDED_BY(mu_);
  uint64_t batches_ GUARDED_BY(mu_) = 0;

  std::shared_ptr<Transport> transport_ GUARDED_BY(mu_);  // of stream_
  std::shared_ptr<InsertStream> stream_ GUARDED_BY(mu_);
  core::TimePoint stream_since_ GUARDED_BY(mu_);
  bool writing_ GUARDED_BY(mu_) = false;       // OnWritten is to come
  bool written_once_ GUARDED_BY(mu_) = false;  // on this stream: the server was reached
  bool pumping_ GUARDED_BY(mu_) = false;       // a thread is in Pump
  bool pausing_ GUARDED_BY(mu_) = false;       // until the time of a reconnection
  bool retrying_ GUARDED_BY(mu_) = true;       // lost connections
  Retry retry_ GUARDED_BY(mu_);
  Status last_cause_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_INSERT_SESSION_H_

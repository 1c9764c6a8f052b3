// A table as one would write it down to explain it: lists that are searched from end to end.
#ifndef REVERB_TF_CORE_TESTING_TABLE_MODEL_H_
#define REVERB_TF_CORE_TESTING_TABLE_MODEL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cc/core/testing/recording_selector.h"
#include "reverb_tf/status.h"
#include "reverb_tf/table.h"

namespace reverb_tf::core {

// Follows a real table whose selectors record: where the choice is random, the model takes the
// recorded one, after having checked that it could be made, and with the right probability.
class TableModel {
 public:
  struct Item {
    uint64_t key = 0;
    double priority = 0;
    int32_t times_sampled = 0;
    std::vector<uint64_t> episodes;  // of its chunks
    int64_t inserted = 0;            // when, counted in events
    int64_t touched = 0;             // last inserted or updated
    Slot slot = 0;                   // in the real table
  };
  struct Sample {
    uint64_t key;
    double probability;
    double priority;
    int64_t table_size;
    int32_t times_sampled;
    bool rate_limited;
  };
  struct Request {
    int64_t num_samples = 0;
    int64_t deadline = 0;  // seconds; -1: none
    bool has_waited = false;
    bool done = false;
    StatusCode code = StatusCode::kOk;
    std::vector<Sample> samples;
  };

  using Record = std::shared_ptr<RecordingSelector::Record>;
  TableModel(const TableOptions& options, Record sampled, Record removed)
      : options_(options), sampled_(std::move(sampled)), removed_(std::move(removed)) {}

  // Items carry key, priority, times_sampled and episodes.
  void Insert(const std::vector<Item>& items, int observer);
  void CancelInserts(int observer);
  // Returns the number of the request.
  size_t AddRequest(int64_t num_samples, int64_t deadline);
  bool CancelRequest(size_t request);
  void Delete(uint64_t key);
  void Update(uint64_t key, double priority);
  void Pump();  // after deletes and updates
  void Reset();
  void AdvanceTo(int64_t seconds);
  void Close();

  const std::vector<Item>& items() const { return items_; }
  const std::vector<Request>& requests() const { return requests_; }
  // By observer.
  const std::vector<uint64_t>& inserted(int observer) const { return inserted_keys_[observer]; }
  const std::vector<uint64_t>& dropped(int observer) const { return dropped_keys_[observer]; }
  int64_t num_waiting_inserts() const { return static_cast<int64_t>(parked_inserts_.size()); }
  int64_t num_waiting_requests() const { return static_cast<int64_t>(parked_requests_.size()); }
  int64_t inserts = 0, samples = 0, deletes = 0, num_unique = 0, num_deleted_episodes = 0;
  int64_t num_episodes() const;
  // What the real table did and could not have done; empty: nothing.
  const std::string& error() const { return error_; }
  // Notes an error if the real table has chosen more than the model.
  void CheckAllChoicesFollowed();

  inline static constexpr int kObservers = 2;

 private:
  struct ParkedInsert {
    Item item;
    int observer;
  };

  bool CanInsert() const;
  bool CanSample() const;
  void InsertNow(const ParkedInsert& insert);
  void SampleNow(Request* request);
  void Finish(StatusCode code);
  // Index into items_.
  size_t Choose(const SelectorOptions& selector, const Record& record, double* probability);
  bool MayChoose(const SelectorOptions& selector, size_t item, double probability) const;
  int64_t Find(uint64_t key) const;  // -1: absent
  void Remove(size_t item);

  const TableOptions options_;
  const Record sampled_, removed_;
  std::vector<Item> items_;
  std::deque<ParkedInsert> parked_inserts_;
  std::deque<size_t> parked_requests_;
  std::vector<Request> requests_;
  std::vector<uint64_t> inserted_keys_[kObservers], dropped_keys_[kObservers];
  int64_t event_ = 0;
  int64_t now_ = 0;
  std::string error_;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TESTING_TABLE_MODEL_H_

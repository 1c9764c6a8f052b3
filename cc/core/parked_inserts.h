// Items that wait for their turn to be inserted.
#ifndef REVERB_TF_CORE_PARKED_INSERTS_H_
#define REVERB_TF_CORE_PARKED_INSERTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "cc/core/table.h"

namespace reverb_tf::core {

// The items of one call, and how many of them are done.
struct InsertBatch {
  std::shared_ptr<InsertObserver> observer;  // may be null
  std::vector<NewItem> items;
  size_t next = 0;

  size_t num_waiting() const { return items.size() - next; }
};

// First in, first out. Not thread-safe. Batches that are done or removed are handed out, to be
// freed by the caller.
class ParkedInserts {
 public:
  bool empty() const { return batches_.empty(); }
  int64_t num_items() const { return num_items_; }

  // The batch has items.
  void Push(InsertBatch batch) {
    num_items_ += static_cast<int64_t>(batch.num_waiting());
    batches_.push_back(std::move(batch));
  }
  InsertBatch& front() { return batches_.front(); }
  // The next item of the front batch is done.
  void Pop(std::vector<InsertBatch>* done) {
    InsertBatch& batch = batches_.front();
    --num_items_;
    if (++batch.next < batch.items.size()) return;
    done->push_back(std::move(batch));
    batches_.pop_front();
  }
  void Remove(const InsertObserver* observer, std::vector<InsertBatch>* removed) {
    std::deque<InsertBatch> kept;
    for (InsertBatch& batch : batches_) {
      if (batch.observer.get() == observer) {
        num_items_ -= static_cast<int64_t>(batch.num_waiting());
        removed->push_back(std::move(batch));
      } else {
        kept.push_back(std::move(batch));
      }
    }
    batches_.swap(kept);
  }
  void RemoveAll(std::vector<InsertBatch>* removed) {
    for (InsertBatch& batch : batches_) removed->push_back(std::move(batch));
    batches_.clear();
    num_items_ = 0;
  }

 private:
  std::deque<InsertBatch> batches_;
  int64_t num_items_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_PARKED_INSERTS_H_

// Tells observers what became of their items, in order and without the table's lock.
#ifndef REVERB_TF_CORE_INSERT_NOTICES_H_
#define REVERB_TF_CORE_INSERT_NOTICES_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cc/core/mutex.h"
#include "cc/core/table.h"

namespace reverb_tf::core {

// One call of an observer.
struct InsertNotice {
  std::shared_ptr<InsertObserver> observer;
  Status dropped;  // why; OK: inserted
  std::vector<uint64_t> keys;
};

// Thread-safe. One thread at a time delivers; a thread that finds another one at it leaves its
// notices to that one. So the order is kept, and an observer that calls the table again from inside
// a notice does not recurse.
class InsertNotices {
 public:
  // Called under the table's lock, which makes the order; takes the notices.
  void Add(std::vector<InsertNotice>* notices);
  // Called without any lock.
  void Deliver();

 private:
  // What is to be delivered next; empty: this thread has stopped being the one that delivers.
  std::vector<InsertNotice> TakeOrStop();

  Mutex mu_;
  bool delivering_ GUARDED_BY(mu_) = false;
  std::vector<InsertNotice> waiting_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_INSERT_NOTICES_H_

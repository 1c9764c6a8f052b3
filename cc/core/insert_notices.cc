#include "cc/core/insert_notices.h"

#include <iterator>

namespace reverb_tf::core {

void InsertNotices::Add(std::vector<InsertNotice>* notices) {
  if (notices->empty()) return;
  MutexLock lock(&mu_);
  if (waiting_.empty()) {
    waiting_.swap(*notices);
  } else {
    waiting_.insert(waiting_.end(), std::make_move_iterator(notices->begin()),
                    std::make_move_iterator(notices->end()));
    notices->clear();
  }
}

void InsertNotices::Deliver() {
  {
    MutexLock lock(&mu_);
    if (delivering_ || waiting_.empty()) return;
    delivering_ = true;
  }
  while (true) {
    const std::vector<InsertNotice> notices = TakeOrStop();
    if (notices.empty()) return;
    for (const InsertNotice& notice : notices) {
      if (notice.dropped.ok()) {
        notice.observer->OnInserted(notice.keys.data(), notice.keys.size());
      } else {
        notice.observer->OnDropped(notice.keys.data(), notice.keys.size(), notice.dropped);
      }
    }
  }
}

std::vector<InsertNotice> InsertNotices::TakeOrStop() {
  MutexLock lock(&mu_);
  if (waiting_.empty()) delivering_ = false;
  return std::exchange(waiting_, {});
}

}  // namespace reverb_tf::core

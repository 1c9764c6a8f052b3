// The trajectory writer for callers that do not block.
#include <memory>
#include <utility>

#include "cc/client/trajectory_writer_impl.h"

namespace reverb_tf::client {

std::function<void()> TrajectoryWriterImpl::PrepareItemAsync(const std::string& table,
                                                             Duration timeout,
                                                             StatusCallback callback) {
  const Status status = CheckAlive();
  if (!status.ok()) {
    callback(status);
    return [] {};
  }
  if (tables_.Knows(table)) return session_->WhenRoom(timeout, std::move(callback));
  // The wait for room follows the signatures; what is cancelled is whatever is going on.
  struct Progress {
    Mutex mu;
    CancelFunction cancel GUARDED_BY(mu);
    bool cancelled GUARDED_BY(mu) = false;

    void Then(CancelFunction next) {
      {
        MutexLock lock(&mu);
        if (!cancelled) {
          cancel = std::move(next);
          return;
        }
      }
      next();
    }
  };
  const auto progress = std::make_shared<Progress>();
  CancelFunction cancel_signatures = tables_.Learn(
      table,
      [progress, timeout, session = session_, callback = std::move(callback)](Status learnt) {
        if (!learnt.ok()) return callback(learnt);
        progress->Then(session->WhenRoom(timeout, callback));
      });
  return [progress, cancel_signatures = std::move(cancel_signatures)] {
    CancelFunction cancel;
    {
      MutexLock lock(&progress->mu);
      progress->cancelled = true;
      cancel.swap(progress->cancel);
    }
    cancel_signatures();
    if (cancel) cancel();
  };
}

std::function<void()> TrajectoryWriterImpl::FlushAsync(int64_t max_pending, Duration timeout,
                                                       StatusCallback callback) {
  const Status status = SendAllBut(max_pending);
  if (!status.ok()) {
    callback(status);
    return [] {};
  }
  return session_->WhenConfirmed(max_pending - static_cast<int64_t>(drafts_.size()), "Flush()",
                                 timeout, std::move(callback));
}

}  // namespace reverb_tf::client

// One insert that is under way.
#ifndef REVERB_TF_CLIENT_INSERT_CALL_H_
#define REVERB_TF_CLIENT_INSERT_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/insert_session.h"
#include "cc/core/mutex.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/client.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Items that are inserted together.
struct InsertRequest {
  struct Item {
    size_t table = 0;  // index into `tables`
    double priority = 0;
    core::TrajectoryRef trajectory;
  };
  std::vector<std::string> tables;
  std::vector<Item> items;  // at least one
};

// One request; its items follow each other in a session. Thread-safe.
class InsertCall : public std::enable_shared_from_this<InsertCall> {
 public:
  // `on_end` is called once, before the callback.
  InsertCall(InsertRequest request, Client::KeysCallback callback,
             std::function<void(InsertCall*)> on_end)
      : request_(std::move(request)), callback_(std::move(callback)), on_end_(std::move(on_end)) {}

  // Adds its items to a session (the first time, or again after that one failed), without sending
  // them. What an earlier session still confirms does not count any more.
  Status AddTo(InsertSession* session) EXCLUDES(mu_);

  // The callback comes now, unless it came already. Then true.
  bool End(Result<std::vector<uint64_t>> result) EXCLUDES(mu_);

  // Its own session, closed at the end.
  void OwnSession(std::shared_ptr<InsertSession> session) EXCLUDES(mu_);

  // Of its first item; after AddTo.
  uint64_t first_key() const EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    return keys_.front();
  }

 private:
  class Attempt;

  void OnItemConfirmed(int attempt) EXCLUDES(mu_);

  const InsertRequest request_;

  mutable Mutex mu_;
  Client::KeysCallback callback_ GUARDED_BY(mu_);  // null: ended
  std::function<void(InsertCall*)> on_end_ GUARDED_BY(mu_);
  int attempts_ GUARDED_BY(mu_) = 0;            // calls of AddTo
  std::vector<uint64_t> keys_ GUARDED_BY(mu_);  // of the last attempt
  size_t unconfirmed_ GUARDED_BY(mu_) = 0;
  std::shared_ptr<InsertSession> session_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_INSERT_CALL_H_

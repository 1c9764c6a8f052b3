// Inserts of many callers over few streams.
#ifndef REVERB_TF_CLIENT_INSERTER_H_
#define REVERB_TF_CLIENT_INSERTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cc/client/endpoint.h"
#include "cc/client/insert_call.h"
#include "cc/client/insert_session.h"
#include "cc/core/mutex.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/client.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Thread-safe. Inserts into the same tables share a stream; those into other tables do not wait for
// them. When a stream fails because of what some insert contains, each insert that was under way on
// it is repeated on a stream of its own, with the same keys, so that only the one at fault fails.
class Inserter : public std::enable_shared_from_this<Inserter> {
 public:
  explicit Inserter(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  // The callback comes once, from any thread: the keys of the items when all are in their tables.
  // The returned function makes it come now, with CANCELLED; the items may still be inserted then.
  CancelFunction Insert(InsertRequest request, Client::KeysCallback callback) EXCLUDES(mu_);

  // Every insert that is under way ends with CANCELLED.
  void Close() EXCLUDES(mu_);

 private:
  // A session and the inserts that are under way on it. All fields but the session are guarded by
  // mu_.
  struct Group {
    std::shared_ptr<InsertSession> session;
    std::unordered_map<InsertCall*, std::shared_ptr<InsertCall>> calls;
  };

  // The group of the tables, a new one if there is none that works.
  std::shared_ptr<Group> FindGroup(const std::vector<std::string>& tables) REQUIRES(mu_);
  void Forget(Group* group, InsertCall* call) EXCLUDES(mu_);
  void OnFailure(Group* group, const Status& status) EXCLUDES(mu_);
  // On a session of its own.
  void Repeat(const std::shared_ptr<InsertCall>& call, const KeySequence& keys);

  const std::shared_ptr<Endpoint> endpoint_;

  Mutex mu_;
  std::map<std::string, std::shared_ptr<Group>> groups_ GUARDED_BY(mu_);  // by names of tables
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_INSERTER_H_

// The servers of this process, so that its clients reach their tables without gRPC. Nothing that a
// peer sends leads here.
#ifndef REVERB_TF_CORE_LOCAL_REGISTRY_H_
#define REVERB_TF_CORE_LOCAL_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "reverb_tf/status.h"

namespace reverb_tf::core {

// The tables of one running server. Immutable.
struct LocalServer {
  uint64_t state_id_high = 0;  // random, one for each server
  uint64_t state_id_low = 0;
  std::vector<std::shared_ptr<Table>> tables;
  // Has a checkpoint written; the callback comes once, from any thread, with the folder. Null: the
  // server has no checkpointer.
  using CheckpointCallback = std::function<void(Result<std::string>)>;
  std::function<void(CheckpointCallback)> checkpoint;

  // Null when there is no such table.
  std::shared_ptr<Table> Find(const std::string& table_name) const;
};

// What a server answers to a request for a checkpoint.
Status NoCheckpointerError();

// Thread-safe.
class LocalRegistry {
 public:
  // Of this process; never destroyed.
  static LocalRegistry* Global();

  // Between its start and its stop, a server is found by its port.
  void Add(int port, std::shared_ptr<const LocalServer> server);
  void Remove(int port);

  // Null unless `address` is a loopback name ("localhost", "127.x.y.z", "[::1]", each with ":port",
  // optionally behind "dns:///" or "ipv4:"/"ipv6:") with the port of a server of this process. In a
  // forked child: null.
  std::shared_ptr<const LocalServer> Find(const std::string& address) const;

 private:
  mutable Mutex mu_;
  std::map<int, std::shared_ptr<const LocalServer>> servers_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_LOCAL_REGISTRY_H_

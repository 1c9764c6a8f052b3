// The gRPC server.
#ifndef REVERB_TF_SERVER_H_
#define REVERB_TF_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "reverb_tf/export.h"
#include "reverb_tf/status.h"
#include "reverb_tf/table.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

struct ServerOptions {
  std::string host = "[::]";  // address to listen on; "[::]" is every interface (IPv4 too)
  int port = 0;               // 0: the system picks one, see Server::port()
  std::vector<std::shared_ptr<Table>> tables;  // at least one, names distinct
};

// Thread-safe.
class REVERB_TF_EXPORT Server {
 public:
  // Listens before it returns. INVALID_ARGUMENT for bad options (duplicate names are listed);
  // UNAVAILABLE names host and port when the port is taken or cannot be bound.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options);

  // Stops.
  virtual ~Server() = default;

  // The port that is listened on, also when 0 was asked for.
  virtual int port() const = 0;
  virtual const std::string& host() const = 0;

  // Closes the tables (blocked calls of remote and local clients end with CANCELLED at once), ends
  // every stream and releases the port. Idempotent; returns when it is done, in bounded time.
  virtual void Stop() = 0;

  // Blocks until Stop() has been called: OK. DEADLINE_EXCEEDED / CANCELLED as WaitOptions says; the
  // server goes on then.
  virtual Status Wait(const WaitOptions& wait) = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_SERVER_H_

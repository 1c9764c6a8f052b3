// The gRPC server.
#ifndef REVERB_TF_SERVER_H_
#define REVERB_TF_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reverb_tf/checkpoint.h"
#include "reverb_tf/export.h"
#include "reverb_tf/status.h"
#include "reverb_tf/table.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

struct ServerOptions {
  std::string host = "[::]";  // address to listen on; "[::]" is every interface (IPv4 too)
  int port = 0;               // 0: the system picks one, see Server::port()
  std::vector<std::shared_ptr<Table>> tables;  // at least one, names distinct
  // Where checkpoints are written, and loaded from at the start; nullopt: there are none.
  std::optional<CheckpointOptions> checkpoint;
  CheckpointLoadOptions load;  // of the load at the start
  // Gets one line for what goes wrong in the background, from any thread: a checkpoint that was due
  // could not be written. Null: standard error.
  std::function<void(const std::string& line)> warn;
};

// What a server's start has loaded.
struct RestoreReport {
  std::string path;  // the checkpoint's folder; empty: nothing was loaded
  int64_t num_items = 0;
  int64_t num_bytes = 0;  // of the files
  // One line for each setting in which a table differs from the checkpoint: the table's own holds.
  // Also one line for each table that had to drop items.
  std::vector<std::string> differences;
};

// Thread-safe.
class REVERB_TF_EXPORT Server {
 public:
  // Listens before it returns. INVALID_ARGUMENT for bad options (duplicate names are listed);
  // UNAVAILABLE names host and port when the port is taken or cannot be bound.
  //
  // With `checkpoint`, the newest complete checkpoint is loaded before. The tables keep the
  // settings they were made with; items, counters and what the rate limiters have counted come from
  // the checkpoint. DATA_LOSS: it is damaged (the message says where, and what else there is to
  // load). INVALID_ARGUMENT: it has tables that the server lacks (they are listed), or an item that
  // its table refuses. FAILED_PRECONDITION: a table that is to be filled is not empty. After an
  // error all tables are as they were.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options);

  // Stops.
  virtual ~Server() = default;

  // The port that is listened on, also when 0 was asked for.
  virtual int port() const = 0;
  virtual const std::string& host() const = 0;

  // What the start has loaded.
  virtual const RestoreReport& restored() const = 0;

  // Writes all tables as of one moment, while they go on to serve, and returns the folder that was
  // written. Blocks until it is complete on disk. One checkpoint is written at a time: a call that
  // comes meanwhile waits for the next. DEADLINE_EXCEEDED / CANCELLED as WaitOptions says; the
  // checkpoint is written all the same. INVALID_ARGUMENT: the server has no checkpointer.
  // CANCELLED: the server stops. INTERNAL, RESOURCE_EXHAUSTED and others name the file and the
  // system's error.
  virtual Result<std::string> Checkpoint(const WaitOptions& wait) = 0;

  // A checkpoint being written is finished first, or given up after ten seconds. Then
  // closes the tables (blocked calls of remote and local clients end with CANCELLED at once), ends
  // every stream and releases the port. Idempotent; returns when it is done, in bounded time.
  virtual void Stop() = 0;

  // Blocks until Stop() has been called: OK. DEADLINE_EXCEEDED / CANCELLED as WaitOptions says; the
  // server goes on then.
  virtual Status Wait(const WaitOptions& wait) = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_SERVER_H_

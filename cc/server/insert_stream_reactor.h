// One InsertStream call.
#ifndef REVERB_TF_SERVER_INSERT_STREAM_REACTOR_H_
#define REVERB_TF_SERVER_INSERT_STREAM_REACTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "cc/server/open_streams.h"
#include "cc/server/served_tables.h"
#include "cc/server/stream_chunks.h"
#include "cc/wire/messages.h"
#include "reverb_tf/status.h"

namespace reverb_tf::server {

// Reads a message at a time, gives its items to their tables and acknowledges what the tables
// report. Reading pauses while a table has too much parked. Owned by the call and by the tables
// that hold items of it: it outlives the call while any of its items are parked.
//
//   reading -> handling -> reading                 handling: OnReadDone runs, no read is
//   outstanding
//                       -> paused -> reading       until the next of our items is inserted
//   any     -> ending   -> finished                ending: end_status_ is set; acknowledgements are
//   still sent
//
// A half-close ends the stream OK and leaves what is parked to the tables. A cancelled call (gRPC
// reports one only when the client has not had its status) drops it.
//
// Thread-safe (gRPC and tables call it from their threads). No table is called with mu_ held.
class InsertStreamReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                            public core::InsertObserver,
                            public OpenStreams::Stream,
                            public std::enable_shared_from_this<InsertStreamReactor> {
 public:
  // Starts to read. gRPC has the result until OnDone.
  static InsertStreamReactor* Start(std::shared_ptr<const ServedTables> tables,
                                    OpenStreams* streams);

  InsertStreamReactor(std::shared_ptr<const ServedTables> tables, OpenStreams* streams);

  // Of gRPC.
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void OnServerStops() override;

  // Of the tables.
  void OnInserted(const uint64_t* keys, size_t n) override;
  void OnDropped(const uint64_t* keys, size_t n, const Status& why) override;

 private:
  // Consecutive items for one table.
  struct Run {
    core::Table* table = nullptr;
    std::string table_name;
    std::vector<core::NewItem> items;
  };

  // Everything that a message asks for. Not OK: ends the stream.
  Status HandleMessage();
  Status HandleItems(const wire::InsertRequestReader& request);
  Status SelectTable(const std::string& name, Run* run);
  Status InsertRun(Run* run);

  void DropParked();
  void EndWith(Status status) REQUIRES(mu_);
  // Starts whatever can be started now: a write, the next read, the end.
  void Advance() REQUIRES(mu_);

  const std::shared_ptr<const ServedTables> tables_;
  OpenStreams* const streams_;                 // until OnDone
  std::shared_ptr<InsertStreamReactor> self_;  // until OnDone

  // Touched by OnReadDone only, of which there is one at a time.
  grpc::ByteBuffer request_;
  StreamChunks chunks_;
  bool over_soft_limit_ = false;

  Mutex mu_;
  std::vector<core::Table*> used_tables_ GUARDED_BY(mu_);
  std::vector<uint64_t> acks_ GUARDED_BY(mu_);  // to be sent
  grpc::ByteBuffer response_ GUARDED_BY(mu_);
  size_t unreported_items_ GUARDED_BY(mu_) = 0;  // given to tables, not yet heard of
  bool reading_ GUARDED_BY(mu_) = false;
  bool handling_ GUARDED_BY(mu_) = false;
  bool paused_ GUARDED_BY(mu_) = false;
  bool writing_ GUARDED_BY(mu_) = false;
  bool cancelled_ GUARDED_BY(mu_) = false;
  bool finished_ GUARDED_BY(mu_) = false;
  std::optional<Status> end_status_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_INSERT_STREAM_REACTOR_H_

// One SampleStream call.
#ifndef REVERB_TF_SERVER_SAMPLE_STREAM_REACTOR_H_
#define REVERB_TF_SERVER_SAMPLE_STREAM_REACTOR_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "cc/core/clock.h"
#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "cc/server/open_streams.h"
#include "cc/server/served_tables.h"
#include "reverb_tf/status.h"

namespace reverb_tf::server {

// Serves one request at a time: asks the table for what is left, turns what comes into responses,
// and asks again while fewer than a bounded number of responses wait to be written. The table finds
// a parked request by its ticket, so that the end of the call takes it back and no item is taken
// for nobody.
//
//   reading -> sampling <-> (queue full) -> reading      sampling: the table has our request
//   any     -> ending   -> finished                      ending: end_status_ is set; responses are
//   still written
//
// Thread-safe (gRPC and tables call it from their threads). No table is called with mu_ held. Owned
// by the call and by the callback of the table's request.
class SampleStreamReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                            public OpenStreams::Stream,
                            public std::enable_shared_from_this<SampleStreamReactor> {
 public:
  // Starts to read. gRPC has the result until OnDone.
  static SampleStreamReactor* Start(std::shared_ptr<const ServedTables> tables, core::Clock* clock,
                                    OpenStreams* streams);

  SampleStreamReactor(std::shared_ptr<const ServedTables> tables, core::Clock* clock,
                      OpenStreams* streams);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnServerStops() override;

 private:
  struct Request {
    core::Table* table = nullptr;
    int64_t remaining = 0;
    std::optional<std::chrono::nanoseconds> timeout;  // of each of its batches
    int64_t batch = 0;                                // how many are asked for next
    bool wants_version = false;                       // in the samples
    int64_t min_version = 0;
    std::optional<int64_t> unless_version;
  };

  Result<Request> ParseRequest() const;
  // Asks the table again and again while there is room for what it may give.
  void Pump();
  // True when the table is to be asked now; with what.
  bool NextBatch(core::Table** table, core::Table::SampleOptions* options);
  void OnSampled(core::Table* table, core::Table::SampleResult result);
  void OnTicket(core::Table* table, core::Table::Ticket ticket);

  // The client is gone: takes back what the table has of us, drops the responses, ends.
  void Abandon();
  void EndWith(Status status) REQUIRES(mu_);
  // Starts whatever can be started now: a write, the next read, the end.
  void Advance() REQUIRES(mu_);

  const std::shared_ptr<const ServedTables> tables_;
  core::Clock* const clock_;
  OpenStreams* const streams_;                 // until OnDone
  std::shared_ptr<SampleStreamReactor> self_;  // until OnDone
  grpc::ByteBuffer message_;                   // of the read in progress

  Mutex mu_;
  Request request_ GUARDED_BY(mu_);
  std::deque<grpc::ByteBuffer> responses_
      GUARDED_BY(mu_);  // the first is being written, if writing_
  std::optional<core::Table::Ticket> ticket_ GUARDED_BY(mu_);
  bool reading_ GUARDED_BY(mu_) = false;
  bool pumping_ GUARDED_BY(mu_) = false;
  bool sampling_ GUARDED_BY(mu_) = false;
  bool writing_ GUARDED_BY(mu_) = false;
  bool cancelled_ GUARDED_BY(mu_) = false;
  bool finished_ GUARDED_BY(mu_) = false;
  std::optional<Status> end_status_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_SAMPLE_STREAM_REACTOR_H_

// One GetItems call.
#ifndef REVERB_TF_SERVER_GET_ITEMS_REACTOR_H_
#define REVERB_TF_SERVER_GET_ITEMS_REACTOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "cc/core/table.h"
#include "cc/server/served_tables.h"
#include "reverb_tf/status.h"

namespace reverb_tf::server {

// Takes a few items out of the table's sight at a time, writes them, and goes on when they are
// written. One write is going on at any moment, so gRPC calls this from one thread after another.
// Owns itself until OnDone.
class GetItemsReactor : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  // Starts to write, or to end with an error. gRPC has the result until OnDone.
  static GetItemsReactor* Start(std::shared_ptr<const ServedTables> tables,
                                const grpc::ByteBuffer& request);

  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  explicit GetItemsReactor(std::shared_ptr<const ServedTables> tables)
      : tables_(std::move(tables)) {}

  Status Parse(const grpc::ByteBuffer& request);
  // Makes responses of the next items; none are left at the end.
  Status MakeResponses();
  void WriteOrFinish();

  const std::shared_ptr<const ServedTables> tables_;
  core::Table* table_ = nullptr;
  std::vector<uint64_t> keys_;
  size_t next_ = 0;                         // of keys_
  std::deque<grpc::ByteBuffer> responses_;  // the first is being written
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_GET_ITEMS_REACTOR_H_

// How a client reaches a server: over gRPC, or by calling the tables of its own process.
//
// Nothing here blocks. Callbacks come from any thread, also from inside the call that causes them,
// and must not block.
#ifndef REVERB_TF_CLIENT_TRANSPORT_H_
#define REVERB_TF_CLIENT_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/core/table.h"
#include "reverb_tf/client.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::client {

struct OutgoingItem {
  const std::string* table;  // of whoever observes the stream
  core::NewItem item;
};

// What one message of an insert stream carries.
struct InsertBatch {
  std::vector<core::ChunkRef> chunks;  // that the stream does not hold yet
  std::vector<OutgoingItem> items;     // their chunks are held or among `chunks`
  // The chunks that the stream goes on to hold, each once. Without items: ignored, all are held.
  std::vector<uint64_t> keep_chunk_keys;
};

// Hears of one insert stream. OnConfirmed may overlap with the others (also with OnClosed).
class InsertStreamObserver {
 public:
  virtual ~InsertStreamObserver() = default;
  // The next batch may be given.
  virtual void OnWritten() = 0;
  // The items are in their tables. Each key is reported once, in no particular order.
  virtual void OnConfirmed(const uint64_t* keys, size_t n) = 0;
  // The stream has ended, for good; nothing comes after this. Never OK.
  virtual void OnClosed(const Status& why) = 0;
};

// Thread-safe. Holds its observer until OnClosed.
class InsertStream {
 public:
  virtual ~InsertStream() = default;
  // One batch at a time: the next one after OnWritten. A no-op on a stream that has ended.
  virtual void Write(InsertBatch batch) = 0;
  // Items that are not confirmed may or may not be inserted. Leads to OnClosed.
  virtual void Cancel() = 0;
};

struct SampleStreamOptions {
  std::string table;
  bool align_arrays = false;  // see SamplerOptions
};

// What is asked of a sample stream.
struct SampleRequest {
  int64_t n = 1;  // samples
  // When none of them can be had for so long, the stream ends with the status of
  // core::Table::SampleResult.
  Duration timeout = kInfiniteDuration;
  // As in core::Table::SampleOptions. With a min_version the samples have the table's version, if
  // the server knows it.
  std::optional<int64_t> min_version;
  std::optional<int64_t> unless_version;
};

class SampleStreamObserver {
 public:
  virtual ~SampleStreamObserver() = default;
  // Some of the samples that were asked for, at least one.
  virtual void OnSamples(std::vector<core::SampledItem> samples) = 0;
  // The stream has ended, for good; nothing comes after this. Never OK.
  virtual void OnClosed(const Status& why) = 0;
};

// Thread-safe. Holds its observer until OnClosed.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  // Asks for more samples; not before all of the last request have arrived. A no-op on a stream
  // that has ended.
  virtual void Request(const SampleRequest& request) = 0;
  // What is on its way is lost. Leads to OnClosed.
  virtual void Cancel() = 0;
};

// Ends a call early: its callback comes with CANCELLED, unless it came already. Callable once or
// never, also after the end.
using CancelFunction = std::function<void()>;

// Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  // The observer is not called before this returns (nor by the thread that calls it).
  virtual std::shared_ptr<InsertStream> OpenInsertStream(
      std::shared_ptr<InsertStreamObserver> observer) = 0;
  virtual std::shared_ptr<SampleStream> OpenSampleStream(
      const SampleStreamOptions& options, std::shared_ptr<SampleStreamObserver> observer) = 0;

  // Each tried once.
  virtual CancelFunction GetServerInfo(std::function<void(Result<ServerInfo>)> callback) = 0;
  virtual CancelFunction Mutate(const std::string& table,
                                const std::vector<core::PriorityUpdate>& updates,
                                const std::vector<uint64_t>& deletes,
                                std::function<void(Status)> callback) = 0;
  virtual CancelFunction Reset(const std::string& table, std::function<void(Status)> callback) = 0;
  virtual CancelFunction Checkpoint(std::function<void(Result<std::string>)> callback) = 0;
  // See Client. UNIMPLEMENTED from servers that do not have the call.
  virtual CancelFunction Get(
      const std::string& table, const std::vector<uint64_t>& keys,
      std::function<void(Result<std::vector<core::SampledItem>>)> callback) = 0;
  virtual CancelFunction ListItems(const std::string& table, uint64_t start, int32_t max_items,
                                   std::function<void(Result<ItemPage>)> callback) = 0;
  virtual CancelFunction Delete(const std::string& table, const std::vector<uint64_t>& keys,
                                std::function<void(Result<int64_t>)> callback) = 0;
  virtual CancelFunction SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                                        std::function<void(Status)> callback) = 0;

  // Whether insert streams hold chunks. If not, batches need no chunks and no keep keys.
  virtual bool holds_chunks() const = 0;
  // Whether a call or stream that ended with `status` is worth another try: the server was not
  // reached, was lost, or is stopping.
  virtual bool IsTransient(const Status& status) const = 0;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TRANSPORT_H_

// The entry to a server: calls, writers and samplers.
#ifndef REVERB_TF_CLIENT_H_
#define REVERB_TF_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reverb_tf/export.h"
#include "reverb_tf/item_info.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"
#include "reverb_tf/structured_writer.h"
#include "reverb_tf/table.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/trajectory_writer.h"
#include "reverb_tf/wait.h"
#include "reverb_tf/writer.h"

namespace reverb_tf {

struct ClientOptions {
  // How long an unreachable server is tried again (calls, streams), before UNAVAILABLE with its
  // address and the last cause.
  Duration patience = std::chrono::seconds(60);
  // How much of that remains once the server itself has ended a call or a stream, because it stops:
  // so long its successor is waited for.
  Duration stop_patience = std::chrono::seconds(60);
  // Whether the successor of a server of this process is waited for like that of any other. If not,
  // calls and streams end with CANCELLED as soon as such a server stops, unless there is another by
  // then.
  bool await_local_successor = false;
};

struct KeyWithPriority {
  uint64_t key;
  double priority;
};

// A table and the priority an item gets in it.
struct TableAndPriority {
  std::string table;
  double priority;
};

struct ServerInfo {
  uint64_t state_id_high = 0;  // changes when the server process does
  uint64_t state_id_low = 0;
  std::vector<std::string> tables;  // serialized deepmind.reverb.TableInfo
};

// The leaves of a table's signature in flattening order.
struct TableSignature {
  bool has_signature = false;
  std::vector<TensorSpec> leaves;  // named "path/to/leaf" (followed by "/name" if the spec has one)
};

// Thread-safe. Addresses of servers of this process (found in a registry inside it) are served
// without gRPC. Every call ends with UNAVAILABLE naming the address when the server cannot be
// reached for ClientOptions::patience, or earlier as WaitOptions says.
class REVERB_TF_EXPORT Client : public std::enable_shared_from_this<Client> {
 public:
  using StatusCallback = std::function<void(Status)>;
  using KeysCallback = std::function<void(Result<std::vector<uint64_t>>)>;
  using CountCallback = std::function<void(Result<int64_t>)>;

  // Does not connect and accepts any address.
  static std::shared_ptr<Client> Create(std::string address, ClientOptions options = {});
  virtual ~Client() = default;

  virtual const std::string& address() const = 0;

  virtual Result<ServerInfo> GetServerInfo(const WaitOptions& wait) = 0;

  // The signature of a table; fetched once, then cached until the server's state id changes (as
  // seen by GetServerInfo) or the table is not in the cache. NOT_FOUND lists the tables there are.
  virtual Result<TableSignature> GetSignature(const std::string& table,
                                              const WaitOptions& wait) = 0;

  // Deletes, then updates; unknown keys are ignored; every priority is checked before anything
  // happens. NOT_FOUND: "Priority table T was not found". INVALID_ARGUMENT: a priority that the
  // table's selectors refuse.
  virtual Status MutatePriorities(const std::string& table, const KeyWithPriority* updates,
                                  size_t num_updates, const uint64_t* deletes, size_t num_deletes,
                                  const WaitOptions& wait) = 0;
  // The same without blocking; the callback comes once, from any thread. The returned function
  // cancels it.
  virtual std::function<void()> MutatePrioritiesAsync(const std::string& table,
                                                      std::vector<KeyWithPriority> updates,
                                                      std::vector<uint64_t> deletes,
                                                      StatusCallback callback) = 0;

  virtual Status Reset(const std::string& table, const WaitOptions& wait) = 0;

  // Makes the server write all tables to disk; blocks until it has. Returns the folder that was
  // written, on the server's machine. INVALID_ARGUMENT: the server has no checkpointer.
  virtual Result<std::string> Checkpoint(const WaitOptions& wait) = 0;

  // The next are calls that other servers do not have: UNIMPLEMENTED names the server then.
  // NOT_FOUND: "Priority table T was not found".

  // The items of those keys, in their order; unknown ones are left out. They are not counted as
  // samples; their probability is 0.
  virtual Result<std::vector<Sample>> Get(const std::string& table, const uint64_t* keys, size_t n,
                                          const WaitOptions& wait) = 0;
  // One page of all items of a table, in no particular order: at most `max_items` (>= 1, and
  // 10000), perhaps none, from `start` on, which is 0 or `next` of the page before. An item that is
  // in the table from the first page to the last is in exactly one of them, whatever else comes and
  // goes.
  virtual Result<ItemPage> ListItems(const std::string& table, uint64_t start, int32_t max_items,
                                     const WaitOptions& wait) = 0;
  // How many of the keys were there. A call that had to be tried again because the connection was
  // lost does not count what an earlier try deleted.
  virtual Result<int64_t> Delete(const std::string& table, const uint64_t* keys, size_t n,
                                 const WaitOptions& wait) = 0;
  // The same without blocking; the callback comes once, from any thread. The returned function
  // cancels it.
  virtual std::function<void()> DeleteAsync(const std::string& table, std::vector<uint64_t> keys,
                                            CountCallback callback) = 0;
  // As Table::SetRateLimiter.
  virtual Status SetRateLimiter(const std::string& table, const RateLimiterOptions& options,
                                const WaitOptions& wait) = 0;

  // Inserts one step of n arrays (items of length 1, with a leading axis of 1) into each of
  // `targets` and returns their keys when the server has confirmed all. All targets share one
  // chunk. INVALID_ARGUMENT: no targets, NaN priority, unknown table, signature mismatch (as a step
  // or as a sequence of one step).
  virtual Result<std::vector<uint64_t>> Insert(const TensorView* values, int32_t n,
                                               const std::vector<TableAndPriority>& targets,
                                               const WaitOptions& wait) = 0;
  // The same without blocking. Values are copied before this returns, unless there is an `owner`
  // that keeps them alive and unchanged: then large ones may be sent from where they are, and the
  // client holds the owner until they are, also after a cancellation. The returned function
  // cancels.
  virtual std::function<void()> InsertAsync(const TensorView* values, int32_t n,
                                            std::vector<TableAndPriority> targets,
                                            std::shared_ptr<const void> owner,
                                            KeysCallback callback) = 0;
  // Inserts the rows (along the first axis) of n arrays as items of one step into a table, one for
  // each priority, in their order, without blocking; values are copied before this returns. The
  // callback gets their keys when the server has confirmed all. Arrays of an item have a leading
  // axis of 1, unless the table's signature expects the step's own shape. Items share chunks of up
  // to 64 KiB. INVALID_ARGUMENT as of Insert (then nothing is inserted), or: an array has another
  // number of rows than there are priorities. The returned function cancels it; the items, or some,
  // may be inserted then.
  virtual std::function<void()> InsertBatchAsync(const TensorView* values, int32_t n,
                                                 const std::string& table,
                                                 std::vector<double> priorities,
                                                 KeysCallback callback) = 0;

  // With validation, fetches the signatures first (bounded by `wait`), unless lazy_signatures.
  virtual Result<std::unique_ptr<TrajectoryWriter>> NewTrajectoryWriter(
      const TrajectoryWriterOptions& options, const WaitOptions& wait) = 0;

  // `serialized_configs` are deepmind.reverb.StructuredWriterConfig messages. INVALID_ARGUMENT:
  // there is none, or "Invalid configuration at position i: ...". Does not wait for the server, and
  // items are not checked against signatures.
  virtual Result<std::unique_ptr<StructuredWriter>> NewStructuredWriter(
      const std::vector<std::string>& serialized_configs) = 0;
  // INVALID_ARGUMENT: an option is not as WriterOptions says. Fetches the signatures first (bounded
  // by `wait`).
  virtual Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options,
                                                    const WaitOptions& wait) = 0;

  // Checks the options (INVALID_ARGUMENT); does not wait for the server.
  virtual Result<std::unique_ptr<Sampler>> NewSampler(const SamplerOptions& options) = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_CLIENT_H_

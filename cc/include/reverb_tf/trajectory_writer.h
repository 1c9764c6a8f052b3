// Writes steps and the items (trajectories over those steps) made of them.
#ifndef REVERB_TF_TRAJECTORY_WRITER_H_
#define REVERB_TF_TRAJECTORY_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reverb_tf/export.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

// How rows of a column are grouped into chunks.
struct ChunkerOptions {
  int32_t num_keep_alive_refs =
      1;  // >= 1: how many of the newest rows of a column can be referenced
  // Rows in a chunk, 1 <= n <= num_keep_alive_refs; 0: found automatically between 1 and
  // num_keep_alive_refs.
  int32_t max_chunk_length = 0;
};

struct TrajectoryWriterOptions {
  ChunkerOptions chunker;      // of columns that are not configured
  bool validate_items = true;  // check items against the signatures of the server's tables
  // With validate_items: making the writer does not ask for the signatures; the first item for a
  // table does.
  bool lazy_signatures = false;
};

// A value that was appended: row `row` (counted from 0 over the life of the writer) of column
// `column`.
struct StepRef {
  int32_t column = -1;  // -1: none (the column was absent in that step)
  int64_t row = 0;
};

class TrajectoryWriter;

// Rows [first, first + length) of a column.
struct RowRange {
  int32_t column = 0;
  int64_t first = 0;
  int64_t length = 0;
  TrajectoryWriter* writer = nullptr;  // whose; null: the writer that makes the item
};

// One column of an item: ranges one after the other, all of one dtype and compatible shapes.
struct ItemColumn {
  std::vector<RowRange> ranges;
  bool squeeze = false;  // exactly one row, stored without the leading axis
};

// Items of one step each, made along with the steps.
struct BatchItems {
  std::string table;
  std::vector<double> priorities;  // one for each step
  std::vector<int32_t> columns;    // what an item has, in this order; present in the batch
};

struct RefInfo {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
};

// For one thread at a time, except that Close() and the destructor may run while another thread is
// blocked in Flush() or EndEpisode(). Append and CreateItem never wait for the network, except for
// back-pressure: CreateItem blocks while more than a bounded number of bytes or items are
// unconfirmed.
//
// Once the stream has failed for good (anything but a lost connection, which is retried with
// everything unconfirmed sent again), every call returns that error.
class REVERB_TF_EXPORT TrajectoryWriter {
 public:
  using StatusCallback = std::function<void(Status)>;

  // Does not flush: what is unconfirmed is dropped. Returns in bounded time.
  virtual ~TrajectoryWriter() = default;

  // Appends one step: values[i] belongs to column i; dtype kInvalid marks an absent one. Columns
  // are created by their first value, which fixes dtype and shape. `refs` (n entries) receives what
  // was appended. With `partial` the step stays open, and a column set in an open step must be
  // absent in its later parts. Nothing is appended on error: INVALID_ARGUMENT "Tensor of wrong
  // dtype provided for column 3. Got int64 but expected double." or "Tensor of incompatible shape
  // provided for column 3. Got [2] which is incompatible with
  // []."; FAILED_PRECONDITION for a column set twice in a step.
  virtual Status Append(const TensorView* values, int32_t n, bool partial, StepRef* refs) = 0;

  // Appends the rows of n arrays as steps: values[i] belongs to column i as in Append and has the
  // steps as its first dimension, which all share. Like so many calls of Append, but all or
  // nothing, and rows that would be kept are stored together: in chunks of max_chunk_length rows
  // where that is set, else of num_keep_alive_refs rows, yet not more than 64 KiB unless it is a
  // single row. `refs` receives the first row of each column. Errors as of Append; INVALID_ARGUMENT
  // also for a scalar and first dimensions that differ, FAILED_PRECONDITION while a step is open.
  virtual Status AppendSequence(const TensorView* values, int32_t n, StepRef* refs) = 0;

  // AppendSequence, and one item of each step. The steps are in chunks of their own, which have all
  // of them as far as max_chunk_length and 64 KiB allow, however many are kept. Arrays of an item
  // have a leading axis of 1, unless the table's signature expects the step's own shape. Returns
  // the keys. Nothing is appended on error; errors as of CreateItem.
  virtual Result<std::vector<uint64_t>> AppendBatch(const TensorView* values, int32_t n,
                                                    const BatchItems& items, StepRef* refs,
                                                    const WaitOptions& wait) = 0;

  // Queues an item; it is sent when its chunks are complete, or by Flush. INVALID_ARGUMENT: empty
  // trajectory or column, NaN priority, a range that is expired or does not exist, mixed dtypes or
  // shapes, squeeze of more than one row, and, with validate_items, an unknown table or a signature
  // mismatch. Returns its key. Another writer that has rows of the item is used by this call: its
  // rows that wait for a chunk get one now.
  virtual Result<uint64_t> CreateItem(const std::string& table, double priority,
                                      const std::vector<ItemColumn>& columns,
                                      const WaitOptions& wait) = 0;

  // Sends everything and waits until at most `max_pending` items are unconfirmed. DEADLINE_EXCEEDED
  // text contains "Timeout exceeded" and says what is waited for; the items stay queued then.
  virtual Status Flush(int64_t max_pending, const WaitOptions& wait) = 0;

  // For callers that must not block. The callback comes once, without locks, from any thread,
  // perhaps before these return; until then the writer must live, and nothing but Close() be
  // called. The returned function makes it come now, with CANCELLED. Once it has come with OK, the
  // next CreateItem for that table, or Flush with that `max_pending`, does not wait. Errors as of
  // those. The signatures of a table that is not known yet are waited for as long as the server is
  // tried, whatever the timeout.
  virtual std::function<void()> PrepareItemAsync(const std::string& table, Duration timeout,
                                                 StatusCallback callback) = 0;
  virtual std::function<void()> FlushAsync(int64_t max_pending, Duration timeout,
                                           StatusCallback callback) = 0;

  // Flush(0), then a new episode. With `clear_buffers` every earlier reference expires. Nothing is
  // reset on error.
  virtual Status EndEpisode(bool clear_buffers, const WaitOptions& wait) = 0;

  // Changes the chunking of column `column` (which may not exist yet). FAILED_PRECONDITION while it
  // has rows that are not in a chunk yet.
  virtual Status Configure(int32_t column, const ChunkerOptions& options) = 0;

  // Ends the stream without flushing; later calls return CANCELLED. Idempotent.
  virtual void Close() = 0;

  // Steps (without partial ones) since the episode began.
  virtual int64_t episode_steps() const = 0;
  // The largest number of rows that any column keeps.
  virtual int32_t max_num_keep_alive_refs() const = 0;

  // False once the row cannot be referenced or read any more.
  virtual bool IsAlive(const StepRef& ref) const = 0;
  // Dtype and shape of a row; FAILED_PRECONDITION when it has expired.
  virtual Result<RefInfo> Describe(const StepRef& ref) const = 0;
  // Copies the row to `out` (num_bytes as Describe says; not for kString). FAILED_PRECONDITION when
  // expired.
  virtual Status Read(const StepRef& ref, void* out, size_t out_bytes) const = 0;
  virtual Result<std::vector<std::string>> ReadStrings(const StepRef& ref) const = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_TRAJECTORY_WRITER_H_

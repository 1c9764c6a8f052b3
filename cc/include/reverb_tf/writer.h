// Writes steps whose columns go together, and items over the newest of them.
#ifndef REVERB_TF_WRITER_H_
#define REVERB_TF_WRITER_H_

#include <cstdint>
#include <string>

#include "reverb_tf/export.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

struct WriterOptions {
  int32_t chunk_length = 1;          // steps in a chunk, 1 <= chunk_length <= max_timesteps
  int32_t max_timesteps = 1;         // how many of the newest steps an item can have
  bool delta_encoded = false;        // stores differences of integer arrays of rank >= 1
  int64_t max_in_flight_items = 25;  // >= 1, see Writer
};

// All arrays of a step are stored together, chunk_length steps in a chunk. Dtypes and shapes may
// change from one chunk to the next, and so may not be mixed in an item.
//
// An item goes out when its last step is in a chunk. The call that sends items (CreateItem when no
// step waits for its chunk, else the Append that completes the chunk) first waits until
// max_in_flight_items will not be exceeded; the items of one chunk go out together, as soon as no
// others are unconfirmed if they alone are more than that. When that wait ends with an error, the
// call has done nothing.
//
// For one thread at a time. Once the stream has failed for good (anything but a lost connection,
// which is retried with everything unconfirmed sent again), every call returns that error.
class REVERB_TF_EXPORT Writer {
 public:
  // Drops what is unconfirmed; returns in bounded time.
  virtual ~Writer() = default;

  // Appends a step of n arrays. INVALID_ARGUMENT: no arrays, another number than in the steps
  // before, or a dtype or shape that differs from those of the steps in the same chunk; the step is
  // dropped then.
  virtual Status Append(const TensorView* values, int32_t n, const WaitOptions& wait) = 0;

  // Appends the rows of n arrays, which have the same first dimension: like so many calls of
  // Append, but all or nothing. INVALID_ARGUMENT also for a scalar and for first dimensions that
  // differ.
  virtual Status AppendSequence(const TensorView* values, int32_t n, const WaitOptions& wait) = 0;

  // Makes an item of the newest `num_timesteps` steps and returns its key. INVALID_ARGUMENT: not 1
  // <= num_timesteps <= max_timesteps, fewer steps than that, steps of different dtypes or shapes,
  // NaN priority, an unknown table, or arrays that fit the table's signature neither as single
  // steps nor with the leading axis [num_timesteps].
  virtual Result<uint64_t> CreateItem(const std::string& table, int64_t num_timesteps,
                                      double priority, const WaitOptions& wait) = 0;

  // Completes the chunk if items wait for it, and waits until all items are confirmed. On
  // DEADLINE_EXCEEDED they stay queued.
  virtual Status Flush(const WaitOptions& wait) = 0;

  // Flush, then the end: later calls return CANCELLED. The writer is closed whatever happens; an
  // error says how many items were not confirmed. Without `retry_on_unavailable` a lost connection
  // is such an error at once. A second call returns CANCELLED.
  virtual Status Close(bool retry_on_unavailable, const WaitOptions& wait) = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_WRITER_H_

// Writes steps, and makes items of them by patterns that are given once.
#ifndef REVERB_TF_STRUCTURED_WRITER_H_
#define REVERB_TF_STRUCTURED_WRITER_H_

#include <cstdint>

#include "reverb_tf/export.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

// After each append, and at the end of an episode, every config (deepmind.reverb.
// StructuredWriterConfig) whose conditions hold makes an item of the steps that its pattern
// selects, at most once a step. Columns that no pattern and no condition uses are not written.
//
// For one thread at a time. Once the stream has failed for good, every call returns that error.
class REVERB_TF_EXPORT StructuredWriter {
 public:
  // Flushes for one second at most; what is unconfirmed then is dropped, and a warning logged.
  virtual ~StructuredWriter() = default;

  // Appends one step: values[i] belongs to column i; dtype kInvalid marks an absent one. The first
  // step fixes n, and the first value of a column its dtype and shape. With `partial` the step
  // stays open, and a column set in an open step must be absent in its later parts.
  //
  // INVALID_ARGUMENT, with nothing appended: another n than before, or one that is too small for
  // the configs; "Tensor of wrong dtype provided for column 3. ..." and "Tensor of incompatible
  // shape provided for column 3. ..." as from TrajectoryWriter; a value of which no td_error
  // priority can be computed. FAILED_PRECONDITION: a column is set twice in a step.
  //
  // Blocks while too much is unconfirmed. When `wait` ends that, the step is appended all the same,
  // and the next call makes the items that are missing.
  virtual Status Append(const TensorView* values, int32_t n, bool partial,
                        const WaitOptions& wait) = 0;

  // As TrajectoryWriter::Flush.
  virtual Status Flush(int64_t max_pending, const WaitOptions& wait) = 0;

  // Makes the items that are due at the end of an episode, sends everything, waits for it and
  // begins a new episode. With `clear_buffers` patterns do not reach back into earlier ones. On
  // error the episode goes on; another call makes no item again.
  virtual Status EndEpisode(bool clear_buffers, const WaitOptions& wait) = 0;

  // Whether the last append was partial and its episode has not ended.
  virtual bool step_is_open() const = 0;

  // Whether a pattern or a condition uses the column.
  virtual bool uses_column(int32_t column) const = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_STRUCTURED_WRITER_H_

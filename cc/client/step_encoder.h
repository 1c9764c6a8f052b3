// Steps as trajectories of their own.
#ifndef REVERB_TF_CLIENT_STEP_ENCODER_H_
#define REVERB_TF_CLIENT_STEP_ENCODER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cc/client/key_sequence.h"
#include "cc/client/signature.h"
#include "cc/core/mutex.h"
#include "cc/core/trajectory.h"
#include "cc/wire/chunk_codec.h"
#include "reverb_tf/client.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::client {

// Thread-safe.
class StepEncoder {
 public:
  // Puts n arrays into chunks, each with a leading axis of 1. Large arrays get chunks of their own
  // and the others share one, so that a chunk is handled while the next one is on its way, and what
  // does not compress is apart from what does. With an owner, which keeps the arrays alive and
  // unchanged, large ones that do not compress are not copied (Chunk::pieces). INVALID_ARGUMENT
  // names the array that cannot travel.
  Result<core::TrajectoryRef> Encode(const TensorView* values, int32_t n,
                                     std::shared_ptr<const void> owner = nullptr) EXCLUDES(mu_);

  // Copies n arrays of `num_rows` >= 1 rows (their first axis) into as few chunks as
  // kBatchChunkBytes allows, which have all rows in order.
  Result<std::vector<core::ChunkRef>> EncodeRows(const TensorView* values, int32_t n,
                                                 int64_t num_rows) EXCLUDES(mu_);

 private:
  using Advisors = std::vector<wire::CompressionAdvisor>;
  // The columns of each chunk, in order.
  static std::vector<std::vector<int32_t>> Group(const std::vector<TensorView>& columns);
  Result<core::ChunkRef> EncodeGroup(uint64_t episode_id, int32_t num_rows,
                                     const std::vector<TensorView>& columns,
                                     const std::vector<int32_t>& group,
                                     std::shared_ptr<const void> owner, Advisors* advisors)
      EXCLUDES(mu_);
  Advisors TakeAdvisors(int32_t n) EXCLUDES(mu_);
  void ReturnAdvisors(Advisors advisors) EXCLUDES(mu_);

  const KeySequence keys_;

  Mutex mu_;
  uint64_t next_key_ GUARDED_BY(mu_) = 0;
  // What was learnt about the columns of steps with so many columns; missing while it is in use.
  std::map<size_t, Advisors> advisors_ GUARDED_BY(mu_);
};

// INVALID_ARGUMENT unless the columns of a trajectory of one step fit the table's signature, each
// with or without its leading axis of 1. If `squeeze` is not null, it gets the columns that the
// signature expects without.
Status CheckStep(const std::string& table, const TableSignature& signature,
                 const core::Trajectory& step, std::vector<bool>* squeeze = nullptr);

// Row `row` of each tensor of the chunk as a column, with a leading axis unless it is squeezed.
Result<core::TrajectoryRef> StepOf(const core::ChunkRef& chunk, int32_t row,
                                   const std::vector<bool>& squeeze);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_STEP_ENCODER_H_

// Makes items of steps by patterns that are given once, without a server.
#ifndef REVERB_TF_STEP_MATCHER_H_
#define REVERB_TF_STEP_MATCHER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reverb_tf/export.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf {

// Says which items a StructuredWriter with the same configs would make, to a caller that keeps the
// steps itself. Rows of all columns are the numbers of the steps, counted from 0 over the life of
// this. Tables and priorities are not looked at.
//
// For one thread at a time; never blocks.
class REVERB_TF_EXPORT StepMatcher {
 public:
  // The columns of each item.
  using Items = std::vector<std::vector<ItemColumn>>;

  // `configs` are serialized deepmind.reverb.StructuredWriterConfig messages. INVALID_ARGUMENT:
  // there is none, or "Invalid configuration at position i: ...".
  static Result<std::unique_ptr<StepMatcher>> Create(const std::vector<std::string>& configs);

  virtual ~StepMatcher() = default;

  // Items are made of so many of the newest steps at most.
  virtual int32_t history() const = 0;

  // Adds a step: values[i] belongs to column i. Sets `items` to those that are due then, in the
  // order of the configs. INVALID_ARGUMENT, with nothing added: another n than before, or one that
  // is too small for the configs.
  virtual Status Append(const TensorView* values, int32_t n, Items* items) = 0;

  // Sets `items` to those that are due at the end of an episode, and begins a new one. With
  // `clear_buffers` items do not reach back into earlier ones.
  virtual void EndEpisode(bool clear_buffers, Items* items) = 0;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_STEP_MATCHER_H_

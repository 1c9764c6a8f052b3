// What the iterators of sampled items share.
#ifndef REVERB_TF_OPS_ITERATOR_SUPPORT_H_
#define REVERB_TF_OPS_ITERATOR_SUPPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/client.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/wait.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// How long an iterator waits for a table's signature.
inline constexpr Duration kSignatureTimeout = std::chrono::seconds(30);

// Of the iterator or its step.
bool IsCancelled(tensorflow::data::IteratorContext* ctx);
absl::Status IteratorCancelled();

// Calls `close` when the iterator or its step is cancelled while this lives; at once when that has
// happened already.
class CancellationScope {
 public:
  CancellationScope(tensorflow::data::IteratorContext* ctx, std::function<void()> close);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  std::function<void()> deregister_;
};

// Sets what every sample is checked against: the table's signature, with which the requested data
// must agree (INVALID_ARGUMENT), or the request when the table has none, is unknown, or the answer
// did not come in time, which is logged. Blocks for at most `timeout`; CANCELLED with the
// iterator.
absl::Status ChooseValidation(tensorflow::data::IteratorContext* ctx, Client* client,
                              std::vector<TensorSpec> requested, Duration timeout,
                              SamplerOptions* options);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_ITERATOR_SUPPORT_H_

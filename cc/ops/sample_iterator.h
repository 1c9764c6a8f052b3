// What the iterators of both kinds of SampleDataset share.
#ifndef REVERB_TF_OPS_SAMPLE_ITERATOR_H_
#define REVERB_TF_OPS_SAMPLE_ITERATOR_H_

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "cc/ops/sample_dataset.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/sampler.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// One sampler for each iterator; thread-safe. Initialising it fetches the table's signature (30 s
// at most) and checks the requested data against it. A blocked GetNext ends with CANCELLED at once
// when its iterator or step is cancelled. Destruction closes the sampler.
class SampleIterator : public tensorflow::data::DatasetIterator<SampleDataset> {
 public:
  explicit SampleIterator(const Params& params) : DatasetIterator<SampleDataset>(params) {}

  absl::Status Initialize(tensorflow::data::IteratorContext* ctx) override;

 protected:
  // Waits for a sample. Nothing at the end of the sequence, and from then on.
  absl::Status NextSample(tensorflow::data::IteratorContext* ctx, std::optional<Sample>* sample);

  absl::Status SaveInternal(tensorflow::data::SerializationContext* ctx,
                            tensorflow::data::IteratorStateWriter* writer) override;
  absl::Status RestoreInternal(tensorflow::data::IteratorContext* ctx,
                               tensorflow::data::IteratorStateReader* reader) override;
  tensorflow::data::TraceMeMetadata GetTraceMeMetadata() const override;

 private:
  bool IsEnd(const Status& status) const;

  std::shared_ptr<Sampler> sampler_;  // set by Initialize
  std::atomic<bool> ended_{false};
  std::atomic<bool> rate_limited_{false};
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLE_ITERATOR_H_

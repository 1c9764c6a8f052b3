// The iterator of a SampleDataset of timesteps.
#ifndef REVERB_TF_OPS_TIMESTEP_ITERATOR_H_
#define REVERB_TF_OPS_TIMESTEP_ITERATOR_H_

#include <memory>
#include <string>

#include "cc/ops/sample_dataset.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// A SampleIterator: one step of an item an element, the steps of an item
// after one another. `dataset` must outlive it.
std::unique_ptr<tensorflow::data::IteratorBase> MakeTimestepIterator(const SampleDataset* dataset,
                                                                     const std::string& prefix);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_TIMESTEP_ITERATOR_H_

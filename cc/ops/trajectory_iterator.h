// The iterator of a SampleDataset of trajectories.
#ifndef REVERB_TF_OPS_TRAJECTORY_ITERATOR_H_
#define REVERB_TF_OPS_TRAJECTORY_ITERATOR_H_

#include <memory>
#include <string>

#include "cc/ops/sample_dataset.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// A SampleIterator: one whole trajectory an element. `dataset` must outlive it.
std::unique_ptr<tensorflow::data::IteratorBase> MakeTrajectoryIterator(const SampleDataset* dataset,
                                                                       const std::string& prefix);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_TRAJECTORY_ITERATOR_H_

// The iterator of a TrajectoryDataset.
#ifndef REVERB_TF_OPS_TRAJECTORY_ITERATOR_H_
#define REVERB_TF_OPS_TRAJECTORY_ITERATOR_H_

#include <memory>
#include <string>

#include "cc/ops/trajectory_dataset.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// One sampler for each iterator; thread-safe. Initialising it fetches the table's signature (30 s
// at most) and checks the dataset's columns against it. A blocked GetNext ends with CANCELLED at
// once when its iterator or step is cancelled. Destruction closes the sampler. `dataset` must
// outlive it.
std::unique_ptr<tensorflow::data::IteratorBase> MakeTrajectoryIterator(
    const TrajectoryDataset* dataset, const std::string& prefix);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_TRAJECTORY_ITERATOR_H_

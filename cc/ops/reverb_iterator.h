// The iterator of a ReverbDataset.
#ifndef REVERB_TF_OPS_REVERB_ITERATOR_H_
#define REVERB_TF_OPS_REVERB_ITERATOR_H_

#include <memory>
#include <string>

#include "cc/ops/reverb_dataset.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// Thread-safe. Initialising it asks each server for the table's signature (30 s at most; of several
// servers 5 s at most, and those that do not answer are left for later) and checks the requested
// data against it. A blocked GetNext ends with CANCELLED at once when its iterator or step is
// cancelled, and the iterator with it. What is saved is how many samples were delivered; an
// iterator that is restored goes on with new samples and what is left of max_samples. `dataset`
// must outlive it.
std::unique_ptr<tensorflow::data::IteratorBase> MakeReverbIterator(const ReverbDataset* dataset,
                                                                   const std::string& prefix);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_REVERB_ITERATOR_H_

// The iterator of a PatternDataset.
#ifndef REVERB_TF_OPS_PATTERN_ITERATOR_H_
#define REVERB_TF_OPS_PATTERN_ITERATOR_H_

#include <memory>
#include <string>

#include "cc/ops/pattern_dataset.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// Thread-safe: one thread at a time pulls steps. It keeps as many steps as the patterns reach back
// to. `dataset` must outlive it.
std::unique_ptr<tensorflow::data::IteratorBase> MakePatternIterator(const PatternDataset* dataset,
                                                                    const std::string& prefix);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_PATTERN_ITERATOR_H_

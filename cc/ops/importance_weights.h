// Importance weights of prioritized samples. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_IMPORTANCE_WEIGHTS_H_
#define REVERB_TF_OPS_IMPORTANCE_WEIGHTS_H_

#include <vector>

#include "reverb_tf/sample.h"
#include "reverb_tf/status.h"

namespace reverb_tf::ops {

// (N P)^-beta for each sample, N being table_size and P probability (Schaul et al. 2016), divided
// by what it is for the smallest N P: `smallest`, or if that is not positive, the smallest of these
// samples. No weight is above 1. Writes one for each sample.
//
// INVALID_ARGUMENT: a negative or infinite `beta`, or one that is not a number; a sample that does
// not say its probability.
Status ImportanceWeights(const std::vector<SampleInfo>& samples, double beta, double smallest,
                         float* weights);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_IMPORTANCE_WEIGHTS_H_

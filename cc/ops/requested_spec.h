// What a dataset asks for against what a table's signature promises. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_REQUESTED_SPEC_H_
#define REVERB_TF_OPS_REQUESTED_SPEC_H_

#include <string>
#include <vector>

#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::ops {

// OK when a tensor can satisfy both specs: equal dtypes and no two known dimensions that differ.
bool AreCompatible(const TensorSpec& a, const TensorSpec& b);

// "(float, [2,?])".
std::string SpecString(const TensorSpec& spec);

// INVALID_ARGUMENT unless `requested` has as many entries as `signature` and each is compatible
// with its counterpart. The text names the table, the first index that differs and both sides of
// it.
Status CheckRequest(const std::string& table, const std::vector<TensorSpec>& requested,
                    const std::vector<TensorSpec>& signature);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_REQUESTED_SPEC_H_

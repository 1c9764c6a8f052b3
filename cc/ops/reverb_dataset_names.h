// The words that stand for options in the attributes of ReverbDataset.
#ifndef REVERB_TF_OPS_REVERB_DATASET_NAMES_H_
#define REVERB_TF_OPS_REVERB_DATASET_NAMES_H_

#include <string>

#include "cc/ops/reverb_dataset.h"

namespace reverb_tf::ops {

inline constexpr const char* kVaryingNames[] = {"error", "pad", "ragged"};
inline constexpr const char* kWeightsNames[] = {"none", "batch", "table"};

inline const char* NameOf(Varying varying) { return kVaryingNames[static_cast<int>(varying)]; }
inline const char* NameOf(Weights weights) { return kWeightsNames[static_cast<int>(weights)]; }

// `name` is one of the three: the op's registration says so.
template <typename Option>
Option FromName(const char* const (&names)[3], const std::string& name) {
  return static_cast<Option>(name == names[0] ? 0 : name == names[1] ? 1 : 2);
}

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_REVERB_DATASET_NAMES_H_

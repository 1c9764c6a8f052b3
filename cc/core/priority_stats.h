// What is told about the priorities of many items.
#ifndef REVERB_TF_CORE_PRIORITY_STATS_H_
#define REVERB_TF_CORE_PRIORITY_STATS_H_

#include <limits>

namespace reverb_tf::core {

// Of no items: min > max.
struct PriorityStats {
  double min = std::numeric_limits<double>::infinity();
  double min_positive = std::numeric_limits<double>::infinity();  // of those above 0
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_PRIORITY_STATS_H_

// What is told about items without their data.
#ifndef REVERB_TF_ITEM_INFO_H_
#define REVERB_TF_ITEM_INFO_H_

#include <cstdint>
#include <vector>

#include "reverb_tf/wait.h"

namespace reverb_tf {

struct ItemInfo {
  uint64_t key = 0;
  double priority = 0;
  int32_t times_sampled = 0;
  Duration age{0};        // since it was inserted, by the server's clock; >= 0
  int64_t num_bytes = 0;  // of its chunks as they are stored; shared ones count in full
};

struct ItemPage {
  std::vector<ItemInfo> items;
  uint64_t next = 0;  // where the next page begins; 0: there is none
};

}  // namespace reverb_tf

#endif  // REVERB_TF_ITEM_INFO_H_

// What a table holds at one moment, apart from the table.
#ifndef REVERB_TF_CORE_TABLE_SNAPSHOT_H_
#define REVERB_TF_CORE_TABLE_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cc/core/trajectory.h"
#include "reverb_tf/table.h"

namespace reverb_tf::core {

struct TableSnapshot {
  struct Item {
    uint64_t key = 0;
    double priority = 0;
    int64_t inserted_at_nanos = 0;  // since the Unix epoch
    int32_t times_sampled = 0;
    TrajectoryRef trajectory;
  };

  TableOptions options;  // without a seed
  int64_t inserts = 0;   // of the rate limiter
  int64_t samples = 0;
  int64_t deletes = 0;
  int64_t num_deleted_episodes = 0;
  int64_t num_unique_samples = 0;
  int64_t version = 0;      // of the table; never less than `inserts` once it is restored
  std::vector<Item> items;  // in the order of insertion
};

// One line for each setting that differs: "max_size: 3 here, 1000 in the checkpoint". Names and
// seeds are not looked at; signatures are compared byte by byte.
std::vector<std::string> DescribeDifferences(const TableOptions& here,
                                             const TableOptions& checkpoint);

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TABLE_SNAPSHOT_H_

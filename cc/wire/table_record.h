// The records of a checkpoint's tables: deepmind.reverb.PriorityTableCheckpoint <-> tables.
#ifndef REVERB_TF_WIRE_TABLE_RECORD_H_
#define REVERB_TF_WIRE_TABLE_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "cc/core/table_snapshot.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// Settings and counters; the items have records of their own.
std::string SerializeTableRecord(const core::TableSnapshot& table);

struct TableRecord {
  core::TableSnapshot table;           // without items
  std::vector<std::string> old_items;  // serialized PrioritizedItems that are inside of the record
};
// INVALID_ARGUMENT says what is wrong: not a PriorityTableCheckpoint, no name, a selector or a
// signature that there is not, negative counts.
Result<TableRecord> ParseTableRecord(std::string_view serialized);

// The signature written so that equal ones have equal bytes; what is not a signature stays.
std::string CanonicalSignature(const std::string& serialized);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_TABLE_RECORD_H_

// core::TableInfo -> deepmind.reverb.TableInfo.
#ifndef REVERB_TF_WIRE_TABLE_INFO_H_
#define REVERB_TF_WIRE_TABLE_INFO_H_

#include <string>

#include "cc/core/table.h"

namespace deepmind::reverb {
class KeyDistributionOptions;
class TableInfo;
}  // namespace deepmind::reverb

namespace reverb_tf::wire {

// `to` must be empty.
void FillSelector(const SelectorOptions& from, bool is_deterministic,
                  deepmind::reverb::KeyDistributionOptions* to);

// `info` must be empty. A signature that is not a StructuredValue is left out (tables are made with
// valid ones).
void FillTableInfo(const core::TableInfo& from, deepmind::reverb::TableInfo* info);

// A serialized deepmind.reverb.TableInfo.
std::string SerializeTableInfo(const core::TableInfo& info);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_TABLE_INFO_H_

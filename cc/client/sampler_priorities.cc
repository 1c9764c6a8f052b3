#include "reverb_tf/sampler_priorities.h"

#include "proto/schema.pb.h"

namespace reverb_tf {

Result<SamplerPriorities> GetSamplerPriorities(const ServerInfo& info, const std::string& table) {
  for (const std::string& serialized : info.tables) {
    deepmind::reverb::TableInfo proto;
    if (!proto.ParseFromString(serialized) || proto.name() != table) continue;
    // A table with items always has a largest priority, also where none is above 0.
    if (proto.current_size() > 0 && !proto.has_priority_min_positive() &&
        !(proto.has_priority_max() && proto.priority_max() <= 0)) {
      return UnimplementedError("The server does not say the smallest priority in table '" + table +
                                "'.");
    }
    SamplerPriorities priorities;
    priorities.smallest = proto.priority_min_positive();
    if (proto.sampler_options().has_prioritized())
      priorities.exponent = proto.sampler_options().prioritized().priority_exponent();
    return priorities;
  }
  return NotFoundError("The server has no table '" + table + "'.");
}

}  // namespace reverb_tf

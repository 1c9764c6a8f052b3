// What a server says of the priorities by which a table's sampler picks.
#ifndef REVERB_TF_SAMPLER_PRIORITIES_H_
#define REVERB_TF_SAMPLER_PRIORITIES_H_

#include <string>

#include "reverb_tf/client.h"
#include "reverb_tf/export.h"
#include "reverb_tf/status.h"

namespace reverb_tf {

struct SamplerPriorities {
  // An item is picked with a probability that is proportional to its priority to this power; 0 for
  // samplers that are not prioritized.
  double exponent = 0;
  // The smallest priority above 0 of the items in the table; 0: there is none.
  double smallest = 0;
};

// Of a table of a server, at the moment in which `info` was made. NOT_FOUND: the server has no such
// table. UNIMPLEMENTED: it has, but does not say its smallest priority; other servers do not.
REVERB_TF_EXPORT Result<SamplerPriorities> GetSamplerPriorities(const ServerInfo& info,
                                                                const std::string& table);

}  // namespace reverb_tf

#endif  // REVERB_TF_SAMPLER_PRIORITIES_H_

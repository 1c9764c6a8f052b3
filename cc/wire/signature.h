// Signatures of tables: nested structures of specs, flattened (spec/wire.md section 6).
#ifndef REVERB_TF_WIRE_SIGNATURE_H_
#define REVERB_TF_WIRE_SIGNATURE_H_

#include <string_view>

#include "reverb_tf/client.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// Reads a serialized StructuredValue: dicts flatten by sorted key, lists, tuples and named tuples
// in order; leaves are (bounded) tensor specs, named by their path joined with '/', followed by the
// spec's own name if it has one. None (or no value) is a signature without leaves.
// INVALID_ARGUMENT: not a StructuredValue, another kind of value, an unsupported dtype, a dimension
// below -1.
Result<TableSignature> ParseSignature(std::string_view serialized);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_SIGNATURE_H_

// Brings items in the old form (deprecated_chunk_keys, deprecated_sequence_range) to the present
// one.
#ifndef REVERB_TF_WIRE_OLD_ITEM_H_
#define REVERB_TF_WIRE_OLD_ITEM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cc/wire/item_codec.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// What can be told of a serialized deepmind.reverb.PrioritizedItem without its chunks.
struct ItemOutline {
  std::string table;
  bool old_form = false;             // has a deprecated field
  std::vector<uint64_t> chunk_keys;  // as often as they are named
};
// INVALID_ARGUMENT when the bytes are not such a message.
Result<ItemOutline> ReadItemOutline(std::string_view serialized);

// The item with a flat trajectory: a column for each tensor of the first chunk, of slices of one
// chunk after the other, the first one from the offset on. INTERNAL: it has one already, or a chunk
// is not found. INVALID_ARGUMENT: the range is not in the chunks.
Result<std::string> RewriteOldItem(std::string_view serialized, const ChunkLookup& lookup);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_OLD_ITEM_H_

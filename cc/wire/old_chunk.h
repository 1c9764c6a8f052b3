// Chunks in forms that old peers and old checkpoints use.
#ifndef REVERB_TF_WIRE_OLD_CHUNK_H_
#define REVERB_TF_WIRE_OLD_CHUNK_H_

#include <string>
#include <string_view>

#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// Rewrites a serialized ChunkData with deprecated_data or string_val to one with `data` and
// tensor_content only. What was neither is kept. INVALID_ARGUMENT: not a ChunkData, data in both
// places, or strings that do not fill their shape.
Result<std::string> RewriteOldChunk(std::string_view serialized);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_OLD_CHUNK_H_

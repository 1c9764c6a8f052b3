// Raw snappy blocks: writing one literal, checking a block without decompressing it, and reading
// it.
#ifndef REVERB_TF_WIRE_SNAPPY_FRAME_H_
#define REVERB_TF_WIRE_SNAPPY_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cc/wire/cursor.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// Bytes of a block that holds `raw_size` (< 2^32) bytes as one literal.
size_t LiteralFrameSize(size_t raw_size);
// Writes that block's header to `out`; the raw bytes belong behind it. Returns where.
char* WriteLiteralHeader(char* out, size_t raw_size);

// Checks that a block decompresses to exactly `raw_size` bytes. Cheap: looks at element headers
// only, so a literal costs the same whatever its length. INVALID_ARGUMENT says what is wrong.
Status CheckSnappy(std::string_view block, uint64_t raw_size);

// If the block is exactly one literal of `raw_size` bytes: skips what is in front of them. Else
// false, and the cursor stays where it was.
bool SkipLiteralHeader(Cursor* block, uint64_t raw_size);

// Decompresses a whole block to `out`, which has raw_size bytes. DATA_LOSS when the block does not
// hold that.
Status Decompress(std::string_view block, void* out, size_t raw_size);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_SNAPPY_FRAME_H_

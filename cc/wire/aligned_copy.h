// A chunk of one array, copied so that the array can be used where it lies.
#ifndef REVERB_TF_WIRE_ALIGNED_COPY_H_
#define REVERB_TF_WIRE_ALIGNED_COPY_H_

#include <cstddef>
#include <memory>

#include "cc/core/chunk.h"
#include "cc/wire/cursor.h"

namespace reverb_tf::wire {

// Copies what `bytes` has yet to read into one piece of the pool's memory, in which the byte number
// `array_offset`, one of them, lies at a multiple of kArrayAlignment. Thread-safe, does not block.
std::unique_ptr<const core::ChunkPieces> CopyAligned(Cursor bytes, size_t array_offset);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_ALIGNED_COPY_H_

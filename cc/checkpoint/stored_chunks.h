// Which chunk is in which segment.
#ifndef REVERB_TF_CHECKPOINT_STORED_CHUNKS_H_
#define REVERB_TF_CHECKPOINT_STORED_CHUNKS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cc/checkpoint/manifest.h"

namespace reverb_tf::checkpoint {

struct StoredChunk {
  uint32_t segment = 0;  // index into StoredChunks::segments
  uint32_t size = 0;     // of its bytes
  uint32_t crc = 0;      // of its bytes
  uint64_t serial = 0;   // of the core::Chunk with just these bytes
};

struct StoredChunks {
  std::vector<ManifestFile> segments;                // in the order in which they were written
  std::unordered_map<uint64_t, StoredChunk> chunks;  // by key
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_STORED_CHUNKS_H_

// Which chunk is in which segment.
#ifndef REVERB_TF_CHECKPOINT_STORED_CHUNKS_H_
#define REVERB_TF_CHECKPOINT_STORED_CHUNKS_H_

#include <cstdint>
#include <vector>

#include "cc/checkpoint/manifest.h"
#include "cc/core/flat_map.h"

namespace reverb_tf::checkpoint {

struct StoredChunk {
  uint32_t segment = 0;  // index into StoredChunks::segments
  uint32_t size = 0;     // of its bytes
  uint32_t crc = 0;      // of its bytes
  uint64_t serial = 0;   // of the core::Chunk with just these bytes
};

// Not thread-safe.
struct StoredChunks {
  // Null when the chunk is in no segment. Valid until the next Add.
  const StoredChunk* Find(uint64_t key) const {
    const uint32_t* const number = numbers.Find(key);
    return number == nullptr ? nullptr : &chunks[*number];
  }
  // Each key once.
  void Add(uint64_t key, const StoredChunk& chunk) {
    numbers.Insert(key, static_cast<uint32_t>(chunks.size()));
    chunks.push_back(chunk);
  }

  std::vector<ManifestFile> segments;           // in the order in which they were written
  core::FlatMap<uint32_t, 0xffffffff> numbers;  // by key; indices into `chunks`
  std::vector<StoredChunk> chunks;
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_STORED_CHUNKS_H_

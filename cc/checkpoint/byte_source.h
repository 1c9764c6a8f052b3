// The bytes of a file in order: as they are, or what a zlib stream in it decompresses to.
#ifndef REVERB_TF_CHECKPOINT_BYTE_SOURCE_H_
#define REVERB_TF_CHECKPOINT_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cc/checkpoint/file_system.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next n bytes, valid until the next call; fewer only at the end. DATA_LOSS: the stream is
  // damaged or cut off.
  virtual Result<std::string_view> Read(size_t n) = 0;
  // Bytes of the file that were read.
  virtual int64_t file_bytes() const = 0;
};

// Memory grows with what is there, not with what is asked for.
std::unique_ptr<ByteSource> MakePlainSource(std::unique_ptr<ReadableFile> file);
std::unique_ptr<ByteSource> MakeZlibSource(std::unique_ptr<ReadableFile> file);

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_BYTE_SOURCE_H_

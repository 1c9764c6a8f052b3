// Writes TFRecord files, as they are or inside of a zlib stream.
#ifndef REVERB_TF_CHECKPOINT_RECORD_WRITER_H_
#define REVERB_TF_CHECKPOINT_RECORD_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cc/checkpoint/file_system.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// Bytes that a record takes beyond its data.
inline constexpr int64_t kRecordFrameBytes = 16;

// What begins every zlib stream that RecordWriter makes, and none of other makers: "fastest", and
// an empty block.
inline constexpr char kOurZlibStart[] = {0x78, 0x01, 0x00, 0x00, 0x00, '\xff', '\xff'};
inline constexpr size_t kOurZlibStartSize = sizeof(kOurZlibStart);

// Each record: its length (8 bytes), a masked CRC-32C of that, the data, a masked CRC-32C of that.
// Not thread-safe. After an error the file is of no use.
class RecordWriter {
 public:
  enum class Framing {
    kPlain,
    // Stored, not compressed: chunks are compressed already where that is worth it.
    kZlib,
  };

  RecordWriter(std::unique_ptr<WritableFile> file, Framing framing);

  // `crc` receives the CRC-32C of the record, unless null.
  Status Write(std::string_view record, uint32_t* crc = nullptr);
  // Everything is on the disk when this returns OK.
  Status Finish();

  int64_t num_records() const { return num_records_; }
  // Of the file so far.
  int64_t num_bytes() const { return num_bytes_; }

 private:
  Status Put(std::string_view bytes);
  Status PutStored(std::string_view bytes);
  // A zlib block of what `buffer_` has from block_start_ on.
  void CloseBlock();
  void OpenBlock();
  Status Flush();

  const std::unique_ptr<WritableFile> file_;
  const bool zlib_;
  std::string buffer_;
  size_t block_start_ = 0;  // of the header of the open zlib block
  uint32_t adler_ = 1;
  int64_t num_records_ = 0;
  int64_t num_bytes_ = 0;
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_RECORD_WRITER_H_

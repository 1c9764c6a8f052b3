// Reads TFRecord files, plain ones and those inside of a zlib stream.
#ifndef REVERB_TF_CHECKPOINT_RECORD_READER_H_
#define REVERB_TF_CHECKPOINT_RECORD_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cc/checkpoint/byte_source.h"
#include "cc/checkpoint/file_system.h"
#include "reverb_tf/status.h"

namespace reverb_tf::checkpoint {

// Not thread-safe. Every byte is covered by a checksum that is looked at.
class RecordReader {
 public:
  // Finds out from the first bytes whether the file is compressed.
  static Result<std::unique_ptr<RecordReader>> Open(FileSystem* files, const std::string& path);

  // The next record, valid until the next call; false at the end. DATA_LOSS as Damage() words it.
  Result<bool> Next(std::string_view* record);

  // DATA_LOSS that names the file, the last record and its place, and the cause.
  Status Damage(const std::string& cause) const { return Damage(num_records_ - 1, start_, cause); }
  // The same of record `number`, from 0, which starts at byte `start`.
  Status Damage(int64_t number, int64_t start, const std::string& cause) const;

  bool is_zlib() const { return is_zlib_; }
  // Read so far.
  int64_t num_records() const { return num_records_; }
  // Of the last record: of the file, or of what it decompresses to.
  int64_t start() const { return start_; }
  // The CRC-32C of the last record's data.
  uint32_t crc() const { return crc_; }
  // Bytes of the file that were read, and that there are.
  int64_t file_bytes() const { return source_->file_bytes(); }
  int64_t file_size() const { return file_size_; }

 private:
  RecordReader(std::string path, std::unique_ptr<ByteSource> source, bool is_zlib,
               int64_t file_size)
      : path_(std::move(path)),
        source_(std::move(source)),
        is_zlib_(is_zlib),
        file_size_(file_size) {}

  // Exactly n bytes of the record that is being read.
  Result<std::string_view> Read(size_t n, const char* what);

  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  const bool is_zlib_;
  const int64_t file_size_;
  int64_t num_records_ = 0;
  int64_t start_ = 0;
  int64_t end_ = 0;  // of the last record
  uint32_t crc_ = 0;
};

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_RECORD_READER_H_

#include "cc/checkpoint/record_writer.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cc/checkpoint/crc32c.h"

namespace reverb_tf::checkpoint {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
// Longer pieces are not copied to the buffer.
constexpr size_t kDirectBytes = 128 << 10;
constexpr size_t kMaxStoredBlock = 65535;
constexpr size_t kBlockHeader = 5;

// Little-endian, as the machine is (the tensors are so too).
template <typename T>
char* PutNumber(char* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

}  // namespace

RecordWriter::RecordWriter(std::unique_ptr<WritableFile> file, Framing framing)
    : file_(std::move(file)), zlib_(framing == Framing::kZlib) {
  buffer_.reserve(kBufferBytes + kDirectBytes);
  if (zlib_) {
    buffer_.assign(kOurZlibStart, kOurZlibStartSize);
    OpenBlock();
  }
}

Status RecordWriter::Write(std::string_view record, uint32_t* crc) {
  char header[12];
  char* const after_length = PutNumber<uint64_t>(header, record.size());
  PutNumber<uint32_t>(after_length, MaskCrc(Crc32c({header, 8})));
  const uint32_t data_crc = Crc32c(record);
  char footer[4];
  PutNumber<uint32_t>(footer, MaskCrc(data_crc));
  REVERB_TF_RETURN_IF_ERROR(Put({header, sizeof header}));
  REVERB_TF_RETURN_IF_ERROR(Put(record));
  REVERB_TF_RETURN_IF_ERROR(Put({footer, sizeof footer}));
  ++num_records_;
  if (crc != nullptr) *crc = data_crc;
  return OkStatus();
}

Status RecordWriter::Put(std::string_view bytes) {
  if (zlib_) return PutStored(bytes);
  num_bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes.size() < kDirectBytes) {
    buffer_.append(bytes);
    return buffer_.size() < kBufferBytes ? OkStatus() : Flush();
  }
  REVERB_TF_RETURN_IF_ERROR(Flush());
  return file_->Append(bytes);
}

Status RecordWriter::PutStored(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t room = kMaxStoredBlock - (buffer_.size() - block_start_ - kBlockHeader);
    const size_t n = std::min(room, bytes.size());
    buffer_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (n < room) continue;
    CloseBlock();
    if (buffer_.size() >= kBufferBytes) REVERB_TF_RETURN_IF_ERROR(Flush());
    OpenBlock();
  }
  return OkStatus();
}

void RecordWriter::OpenBlock() {
  block_start_ = buffer_.size();
  buffer_.append(kBlockHeader, '\0');
}

void RecordWriter::CloseBlock() {
  const size_t size = buffer_.size() - block_start_ - kBlockHeader;
  char* const header = &buffer_[block_start_];
  const auto length = static_cast<uint16_t>(size);
  header[0] = 0;  // stored, not the last
  PutNumber<uint16_t>(PutNumber<uint16_t>(header + 1, length), static_cast<uint16_t>(~length));
  adler_ = static_cast<uint32_t>(
      adler32_z(adler_, reinterpret_cast<const unsigned char*>(header + kBlockHeader), size));
}

Status RecordWriter::Flush() {
  if (buffer_.empty()) return OkStatus();
  if (zlib_) num_bytes_ += static_cast<int64_t>(buffer_.size());
  REVERB_TF_RETURN_IF_ERROR(file_->Append(buffer_));
  buffer_.clear();
  return OkStatus();
}

Status RecordWriter::Finish() {
  if (zlib_) {
    CloseBlock();
    buffer_[block_start_] = 1;  // the last
    for (int shift = 24; shift >= 0; shift -= 8) {
      buffer_.push_back(static_cast<char>(adler_ >> shift));
    }
  }
  REVERB_TF_RETURN_IF_ERROR(Flush());
  return file_->Finish();
}

}  // namespace reverb_tf::checkpoint

#include "cc/checkpoint/record_reader.h"

#include <cstring>

#include "cc/checkpoint/crc32c.h"
#include "cc/checkpoint/record_writer.h"

namespace reverb_tf::checkpoint {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 4;
// No message is larger, and a record is one.
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 31;

template <typename T>
T GetNumber(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool IsRecordHeader(std::string_view bytes) {
  return bytes.size() >= kHeaderBytes &&
         GetNumber<uint32_t>(bytes.substr(8)) == MaskCrc(Crc32c(bytes.substr(0, 8)));
}

bool IsZlibHeader(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x78 &&
         (0x7800 + static_cast<unsigned char>(bytes[1])) % 31 == 0;
}

}  // namespace

Result<std::unique_ptr<RecordReader>> RecordReader::Open(FileSystem* files,
                                                         const std::string& path) {
  std::string start(kHeaderBytes, '\0');
  {
    REVERB_TF_ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, files->Open(path));
    REVERB_TF_ASSIGN_OR_RETURN(const size_t n, file->Read(start.data(), start.size()));
    start.resize(n);
  }
  REVERB_TF_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, files->Open(path));
  const int64_t size = file->size();
  // The length of a record may look like the start of a zlib stream, its checksum does not.
  const bool is_zlib = !IsRecordHeader(start) && IsZlibHeader(start);
  std::unique_ptr<ByteSource> source =
      is_zlib ? MakeZlibSource(std::move(file)) : MakePlainSource(std::move(file));
  return std::unique_ptr<RecordReader>(new RecordReader(path, std::move(source), is_zlib, size));
}

Status RecordReader::Damage(int64_t number, int64_t start, const std::string& cause) const {
  return DataLossError(path_ + ": record " + std::to_string(number) + " at byte " +
                       std::to_string(start) + (is_zlib_ ? " of the decompressed data: " : ": ") +
                       cause);
}

Result<std::string_view> RecordReader::Read(size_t n, const char* what) {
  Result<std::string_view> bytes = source_->Read(n);
  if (!bytes.ok()) {
    if (bytes.status().code() != StatusCode::kDataLoss) return bytes;
    return Damage(num_records_, end_, bytes.status().message());
  }
  if (bytes->size() == n) return bytes;
  return Damage(num_records_, end_,
                "the file is cut off: " + std::to_string(bytes->size()) + " bytes of the " +
                    std::to_string(n) + " of its " + what);
}

Result<bool> RecordReader::Next(std::string_view* record) {
  Result<std::string_view> header = source_->Read(kHeaderBytes);
  if (!header.ok() && header.status().code() == StatusCode::kDataLoss) {
    return Damage(num_records_, end_, header.status().message());
  }
  REVERB_TF_RETURN_IF_ERROR(header.status());
  if (header->empty()) return false;
  if (header->size() < kHeaderBytes) {
    return Damage(num_records_, end_, "the file is cut off inside of its header");
  }
  const uint64_t length = GetNumber<uint64_t>(*header);
  if (!IsRecordHeader(*header)) {
    return Damage(num_records_, end_, "the checksum of its length does not fit");
  }
  if (length > kMaxRecordBytes) {
    return Damage(num_records_, end_,
                  "it has " + std::to_string(length) + " bytes; at most 2 GiB were expected");
  }
  REVERB_TF_ASSIGN_OR_RETURN(const std::string_view data,
                             Read(static_cast<size_t>(length) + kFooterBytes, "data"));
  *record = data.substr(0, static_cast<size_t>(length));
  crc_ = Crc32c(*record);
  if (GetNumber<uint32_t>(data.substr(record->size())) != MaskCrc(crc_)) {
    return Damage(num_records_, end_, "the checksum of its data does not fit");
  }
  start_ = end_;
  end_ += static_cast<int64_t>(length) + kRecordFrameBytes;
  ++num_records_;
  return true;
}

}  // namespace reverb_tf::checkpoint

#include "cc/checkpoint/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace reverb_tf::checkpoint {
namespace {

constexpr size_t kStep = 1 << 20;

// Bytes that were made and not yet taken. (Not a vector, which would zero them first.)
class Buffer {
 public:
  size_t size() const { return end_ - begin_; }
  // Room for `n` bytes behind the others, at most what Added() then says.
  char* Extend(size_t n) {
    if (capacity_ - end_ < n) {
      const size_t held = size();
      if (held + n > capacity_) {
        const size_t capacity = std::max(held + n, 2 * capacity_);
        std::unique_ptr<char[]> bytes(new char[capacity]);
        if (held > 0) std::memcpy(bytes.get(), bytes_.get() + begin_, held);
        bytes_ = std::move(bytes);
        capacity_ = capacity;
      } else {
        std::memmove(bytes_.get(), bytes_.get() + begin_, held);
      }
      begin_ = 0;
      end_ = held;
    }
    return bytes_.get() + end_;
  }
  void Added(size_t n) { end_ += n; }
  std::string_view Take(size_t n) {
    const std::string_view taken(bytes_.get() + begin_, n);
    begin_ += n;
    return taken;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

  Result<std::string_view> Read(size_t n) override {
    while (buffer_.size() < n) {
      REVERB_TF_ASSIGN_OR_RETURN(const size_t got, file_->Read(buffer_.Extend(kStep), kStep));
      if (got == 0) break;
      buffer_.Added(got);
      file_bytes_ += static_cast<int64_t>(got);
    }
    return buffer_.Take(std::min(n, buffer_.size()));
  }

  int64_t file_bytes() const override { return file_bytes_; }

 private:
  const std::unique_ptr<ReadableFile> file_;
  Buffer buffer_;
  int64_t file_bytes_ = 0;
};

class ZlibSource : public ByteSource {
 public:
  explicit ZlibSource(std::unique_ptr<ReadableFile> file)
      : file_(std::move(file)), input_(new char[kStep]) {
    ready_ = inflateInit(&stream_) == Z_OK;
  }
  ~ZlibSource() override {
    if (ready_) inflateEnd(&stream_);
  }

  Result<std::string_view> Read(size_t n) override {
    if (!ready_) return ResourceExhaustedError("no memory to decompress with");
    while (buffer_.size() < n && !ended_) REVERB_TF_RETURN_IF_ERROR(Inflate());
    return buffer_.Take(std::min(n, buffer_.size()));
  }

  int64_t file_bytes() const override { return file_bytes_; }

 private:
  Status Fill() {
    REVERB_TF_ASSIGN_OR_RETURN(const size_t got, file_->Read(input_.get(), kStep));
    file_bytes_ += static_cast<int64_t>(got);
    stream_.next_in = reinterpret_cast<unsigned char*>(input_.get());
    stream_.avail_in = static_cast<unsigned>(got);
    return OkStatus();
  }

  Status Inflate() {
    if (stream_.avail_in == 0) {
      REVERB_TF_RETURN_IF_ERROR(Fill());
      if (stream_.avail_in == 0) {
        return DataLossError("the zlib stream is cut off after " + std::to_string(file_bytes_) +
                             " bytes of the file");
      }
    }
    stream_.next_out = reinterpret_cast<unsigned char*>(buffer_.Extend(kStep));
    stream_.avail_out = kStep;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    buffer_.Added(kStep - stream_.avail_out);
    if (code == Z_STREAM_END) return End();
    if (code == Z_OK || code == Z_BUF_ERROR) return OkStatus();
    return DataLossError(
        "the zlib stream is damaged near byte " +
        std::to_string(file_bytes_ - static_cast<int64_t>(stream_.avail_in)) +
        " of the file: " + (stream_.msg == nullptr ? "no valid data" : stream_.msg));
  }

  Status End() {
    ended_ = true;
    if (stream_.avail_in == 0) REVERB_TF_RETURN_IF_ERROR(Fill());
    if (stream_.avail_in == 0) return OkStatus();
    return DataLossError("there are bytes after the end of the zlib stream, at byte " +
                         std::to_string(file_bytes_ - static_cast<int64_t>(stream_.avail_in)) +
                         " of the file");
  }

  const std::unique_ptr<ReadableFile> file_;
  const std::unique_ptr<char[]> input_;
  z_stream stream_{};
  bool ready_ = false;
  bool ended_ = false;
  Buffer buffer_;
  int64_t file_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> MakePlainSource(std::unique_ptr<ReadableFile> file) {
  return std::make_unique<PlainSource>(std::move(file));
}

std::unique_ptr<ByteSource> MakeZlibSource(std::unique_ptr<ReadableFile> file) {
  return std::make_unique<ZlibSource>(std::move(file));
}

}  // namespace reverb_tf::checkpoint

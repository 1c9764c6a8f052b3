// Checksums and record files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cc/checkpoint/crc32c.h"
#include "cc/checkpoint/file_system.h"
#include "cc/checkpoint/record_reader.h"
#include "cc/checkpoint/record_writer.h"

namespace reverb_tf::checkpoint {
namespace {

using Framing = RecordWriter::Framing;
using ::testing::HasSubstr;

std::string RandomBytes(size_t n, uint32_t seed) {
  std::string bytes(n, '\0');
  for (char& byte : bytes) byte = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST(Crc32cTest, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c("56789", Crc32c("1234")), 0xe3069283u);
}

TEST(Crc32cTest, TableAndInstructionAgree) {
  for (uint32_t n = 0; n < 300; ++n) {
    const std::string bytes = RandomBytes(n, n);
    for (size_t split = 0; split <= n; split += 7) {
      const std::string_view all = bytes;
      EXPECT_EQ(Crc32c(all.substr(split), Crc32c(all.substr(0, split))), Crc32cByTable(all));
    }
  }
}

class RecordsTest : public ::testing::TestWithParam<Framing> {
 protected:
  RecordsTest() : path_(::testing::TempDir() + "/records_test.tfrecord") {
    std::filesystem::remove(path_);
  }
  ~RecordsTest() override { std::filesystem::remove(path_); }

  void Write(const std::vector<std::string>& records) {
    std::filesystem::remove(path_);
    RecordWriter writer(files_->Create(path_).value(), GetParam());
    for (const std::string& record : records) {
      uint32_t crc = 0;
      ASSERT_TRUE(writer.Write(record, &crc).ok());
      EXPECT_EQ(crc, Crc32c(record));
    }
    ASSERT_TRUE(writer.Finish().ok());
    EXPECT_EQ(writer.num_records(), static_cast<int64_t>(records.size()));
    EXPECT_EQ(writer.num_bytes(), static_cast<int64_t>(std::filesystem::file_size(path_)));
  }
  std::string Bytes() { return ReadWholeFile(files_, path_, 1 << 30).value(); }
  void Replace(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  Result<std::vector<std::string>> Read() {
    REVERB_TF_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(files_, path_));
    std::vector<std::string> records;
    std::string_view record;
    while (true) {
      REVERB_TF_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
      if (!more) return records;
      records.emplace_back(record);
    }
  }

  FileSystem* const files_ = FileSystem::Posix();
  const std::string path_;
};

INSTANTIATE_TEST_SUITE_P(All, RecordsTest, ::testing::Values(Framing::kPlain, Framing::kZlib),
                         [](const auto& info) {
                           return info.param == Framing::kPlain ? "Plain" : "Zlib";
                         });

TEST_P(RecordsTest, RoundTrip) {
  std::vector<std::string> records;
  Write(records);
  EXPECT_EQ(Read().value(), records);
  uint32_t seed = 0;
  // Around the sizes of stored blocks and of buffers; 120 looks like the start of a zlib stream.
  for (const size_t n :
       {0, 1, 120, 65507, 65519, 65520, 65535, 65536, 131071, 131072, 1 << 20, (3 << 20) + 17, 5}) {
    records.push_back(RandomBytes(n, ++seed));
  }
  Write(records);
  EXPECT_EQ(Read().value(), records);
}

TEST_P(RecordsTest, AFirstRecordWhoseLengthLooksLikeAZlibStream) {
  const std::vector<std::string> records = {RandomBytes(0x9c78, 1)};
  Write(records);
  EXPECT_EQ(Read().value(), records);
}

TEST_P(RecordsTest, EveryCutIsFound) {
  Write({RandomBytes(10, 1), "", RandomBytes(30, 2)});
  const std::string bytes = Bytes();
  const size_t good_ends[] = {0, 26, 42, bytes.size()};  // plain: ends of records
  for (size_t n = 0; n <= bytes.size(); ++n) {
    Replace(bytes.substr(0, n));
    const Status status = Read().status();
    const bool whole = GetParam() == Framing::kPlain
                           ? std::count(std::begin(good_ends), std::end(good_ends), n) > 0
                           : n == 0 || n == bytes.size();
    EXPECT_EQ(status.code(), whole ? StatusCode::kOk : StatusCode::kDataLoss) << n;
    if (whole) continue;
    EXPECT_THAT(status.message(), HasSubstr(path_ + ": record "));
  }
}

TEST_P(RecordsTest, EveryFlippedBitIsFound) {
  const std::vector<std::string> records = {RandomBytes(10, 1), "", RandomBytes(30, 2)};
  Write(records);
  const std::string bytes = Bytes();
  for (size_t i = 0; i < 8 * bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    Replace(damaged);
    const Result<std::vector<std::string>> read = Read();
    // Of a zlib stream, a few bits mean nothing (padding): then the records are right.
    if (read.ok() && GetParam() == Framing::kZlib) {
      EXPECT_EQ(*read, records) << "bit " << i;
    } else {
      EXPECT_EQ(read.status().code(), StatusCode::kDataLoss) << "bit " << i;
    }
  }
}

TEST_P(RecordsTest, DamageIsDescribed) {
  Write({RandomBytes(10, 1), RandomBytes(30, 2)});
  std::string bytes = Bytes();
  bytes.resize(bytes.size() - 9);
  Replace(bytes);
  const Status status = Read().status();
  EXPECT_THAT(status.message(), HasSubstr(path_ + ": record 1 at byte 26"));
  EXPECT_THAT(status.message(), HasSubstr("cut off"));
}

TEST(ZlibStreamTest, IsOneThatZlibReads) {
  const std::string path = ::testing::TempDir() + "/zlib_stream_test.tfrecord";
  std::filesystem::remove(path);
  const std::string record = RandomBytes(200000, 1);
  RecordWriter writer(FileSystem::Posix()->Create(path).value(), Framing::kZlib);
  ASSERT_TRUE(writer.Write(record).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::string file = ReadWholeFile(FileSystem::Posix(), path, 1 << 20).value();
  std::string plain(record.size() + kRecordFrameBytes, '\0');
  uLongf size = plain.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(plain.data()), &size,
                       reinterpret_cast<const Bytef*>(file.data()), file.size()),
            Z_OK);
  EXPECT_EQ(size, plain.size());
  EXPECT_EQ(plain.substr(12, record.size()), record);
  std::filesystem::remove(path);
}

TEST(ZlibStreamTest, CompressedOnesAreRead) {
  const std::string path = ::testing::TempDir() + "/compressed_test.tfrecord";
  const std::string zlib_path = path + ".zlib";
  std::filesystem::remove(path);
  std::filesystem::remove(zlib_path);
  RecordWriter writer(FileSystem::Posix()->Create(path).value(), Framing::kPlain);
  const std::string record(3000000, 'x');
  ASSERT_TRUE(writer.Write(record).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::string plain = ReadWholeFile(FileSystem::Posix(), path, 1 << 23).value();
  std::string compressed(compressBound(plain.size()), '\0');
  uLongf size = compressed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
                     reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
            Z_OK);
  compressed.resize(size);
  ASSERT_TRUE(WriteWholeFile(FileSystem::Posix(), zlib_path, compressed).ok());
  const auto reader = RecordReader::Open(FileSystem::Posix(), zlib_path).value();
  std::string_view read;
  ASSERT_TRUE(reader->Next(&read).value());
  EXPECT_EQ(read, record);
  EXPECT_FALSE(reader->Next(&read).value());
  std::filesystem::remove(path);
  std::filesystem::remove(zlib_path);
}

}  // namespace
}  // namespace reverb_tf::checkpoint

#include "cc/wire/snappy_frame.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <random>
#include <string>

namespace reverb_tf::wire {
namespace {

std::string LiteralFrame(const std::string& raw) {
  std::string frame(LiteralFrameSize(raw.size()), '?');
  char* end = WriteLiteralHeader(frame.data(), raw.size());
  EXPECT_EQ(static_cast<size_t>(end - frame.data()) + raw.size(), frame.size());
  raw.copy(end, raw.size());
  return frame;
}

std::string RandomText(std::mt19937_64* rng, size_t size, int alphabet) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>((*rng)() % alphabet);
  return text;
}

// Around every change of the header's form.
const size_t kSizes[] = {0,   1,   59,    60,    61,    255,   256,     257,
                         258, 400, 65535, 65536, 65537, 65538, 1 << 24, (1 << 24) + 2};

TEST(SnappyFrameTest, LibraryReadsOurLiterals) {
  std::mt19937_64 rng(1);
  for (const size_t size : kSizes) {
    const std::string raw = RandomText(&rng, size, 256);
    const std::string frame = LiteralFrame(raw);
    std::string read;
    ASSERT_TRUE(snappy::Uncompress(frame.data(), frame.size(), &read)) << size;
    EXPECT_TRUE(read == raw) << size;
    EXPECT_TRUE(CheckSnappy(frame, size).ok()) << size;
    Cursor literal{frame};
    EXPECT_FALSE(SkipLiteralHeader(&literal, size + 1)) << size;
    EXPECT_EQ(literal.remaining(), frame.size());
    ASSERT_TRUE(SkipLiteralHeader(&literal, size)) << size;
    std::string scratch;
    EXPECT_TRUE(literal.View(&scratch) == raw) << size;
    // One byte too many or too few, and it is no literal of that size.
    const std::string longer = frame + "x";
    literal = Cursor(longer);
    EXPECT_FALSE(SkipLiteralHeader(&literal, size)) << size;
    literal = Cursor(std::string_view(frame).substr(0, frame.size() - 1));
    EXPECT_FALSE(SkipLiteralHeader(&literal, size)) << size;
  }
}

TEST(SnappyFrameTest, AcceptsAndDecompressesWhatTheLibraryWrites) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 300; ++i) {
    const std::string raw = RandomText(&rng, rng() % 200000, i % 3 == 0 ? 256 : 2 + i % 5);
    std::string frame;
    snappy::Compress(raw.data(), raw.size(), &frame);
    ASSERT_TRUE(CheckSnappy(frame, raw.size()).ok());
    EXPECT_FALSE(CheckSnappy(frame, raw.size() + 1).ok());
    std::string out(raw.size(), '\0');
    ASSERT_TRUE(Decompress(frame, out.data(), out.size()).ok());
    EXPECT_TRUE(out == raw);
  }
}

TEST(SnappyFrameTest, AgreesWithTheLibraryOnDamagedBlocks) {
  std::mt19937_64 rng(3);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string raw = RandomText(&rng, rng() % 300, 3);
    std::string frame;
    snappy::Compress(raw.data(), raw.size(), &frame);
    for (size_t flips = rng() % 3 + 1; flips > 0; --flips) {
      frame[rng() % frame.size()] = static_cast<char>(rng());
    }
    if (rng() % 4 == 0) frame.resize(rng() % (frame.size() + 1));
    size_t declared = 0;
    const bool has_length = snappy::GetUncompressedLength(frame.data(), frame.size(), &declared);
    if (has_length && declared > 100000) continue;
    const bool valid = has_length && snappy::IsValidCompressedBuffer(frame.data(), frame.size());
    EXPECT_EQ(CheckSnappy(frame, declared).ok(), valid);
    accepted += valid ? 1 : 0;
  }
  EXPECT_GT(accepted, 100);
}

TEST(SnappyFrameTest, SaysWhatIsWrong) {
  EXPECT_EQ(CheckSnappy("", 0).message(), "the snappy block has no valid length");
  EXPECT_EQ(CheckSnappy(LiteralFrame("abc"), 4).message(),
            "the snappy block declares 3 bytes, but dtype and shape need 4");
  EXPECT_EQ(CheckSnappy(LiteralFrame("abcdef").substr(0, 4), 6).message(),
            "the snappy block is cut off inside a literal");
  EXPECT_EQ(CheckSnappy(LiteralFrame("abc") + LiteralFrame("d").substr(1), 3).message(),
            "the snappy block holds more than the 3 bytes that it declares");
  EXPECT_EQ(CheckSnappy(std::string("\x04\x01\x01", 3), 4).message(),
            "the snappy block copies from before its start");
  // A length that needs more than 32 bits.
  EXPECT_FALSE(CheckSnappy("\xff\xff\xff\xff\x7f", 0x7ffffffffull).ok());
}

}  // namespace
}  // namespace reverb_tf::wire

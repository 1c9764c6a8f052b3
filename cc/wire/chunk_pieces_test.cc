// Large chunks whose bytes stay where they are, or are copied to where the array can be used.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cc/wire/chunk_codec.h"
#include "cc/wire/testing/expect_columns.h"
#include "cc/wire/testing/random_columns.h"
#include "reverb_tf/sample.h"

namespace reverb_tf::wire {
namespace {

using testing::Encode;
using testing::ExpectColumns;
using testing::FillRandom;
using testing::OwnedColumn;

// A copy of a part of a message in pieces of their own.
class OwnedPieces : public core::ChunkPieces {
 public:
  explicit OwnedPieces(const Cursor& part) {
    std::vector<std::string_view> views;
    part.AppendPieces(&views);
    for (const std::string_view view : views) strings_.emplace_back(view);
    views_.assign(strings_.begin(), strings_.end());
  }

 private:
  std::vector<std::string> strings_;
};

// A column of one chunk, and whether its bytes are to stay where they are.
struct Case {
  size_t bytes;
  int64_t rows;
  bool noise;
  bool delta;
  bool stays;
};

constexpr size_t kLarge = 2 * kMinBytesInPieces;
constexpr Case kSmall = {kMinBytesInPieces / 2, 1, true, false, false};

core::ChunkRef ChunkOf(const Case& c, std::vector<OwnedColumn>* columns) {
  std::mt19937_64 rng(c.bytes);
  *columns = std::vector<OwnedColumn>(1);
  const auto row = static_cast<int64_t>(c.bytes) / c.rows;
  FillRandom(&rng, DType::kUint8, {c.rows, row}, false, &columns->front());
  if (!c.noise) std::fill(columns->front().bytes.begin(), columns->front().bytes.end(), 0);
  return Encode(7, *columns, c.delta);
}

std::unique_ptr<const core::ChunkPieces> Keep(const Cursor& part) {
  return std::make_unique<OwnedPieces>(part);
}

TEST(ChunkPiecesTest, LargeLiteralsStayInTheirPieces) {
  std::mt19937_64 rng(10);
  for (const Case& c : {Case{kLarge, 8, true, false, true}, Case{kLarge, 8, true, true, true},
                        Case{kLarge, 8, false, false, false}, kSmall}) {
    std::vector<OwnedColumn> columns;
    const core::ChunkRef chunk = ChunkOf(c, &columns);
    for (const size_t piece : {size_t{64} << 10, size_t{1000}, size_t{1} << 30}) {
      std::string message = "before" + std::string(chunk->bytes()) + "behind";
      std::vector<std::string_view> pieces;
      for (size_t at = 0; at < message.size(); at += piece) {
        pieces.push_back(std::string_view(message).substr(at, piece));
      }
      Cursor cursor(pieces.data(), pieces.size());
      ASSERT_TRUE(cursor.Skip(6));
      Result<core::ChunkRef> parsed = ParseChunk(cursor.First(chunk->num_bytes()), Keep);
      message.assign(message.size(), '#');
      ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
      EXPECT_EQ((*parsed)->pieces() != nullptr, c.stays) << c.bytes;
      EXPECT_EQ((*parsed)->num_bytes(), chunk->num_bytes());
      EXPECT_EQ((*parsed)->header().uncompressed_size, chunk->header().uncompressed_size);
      for (int i = 0; i < 5; ++i) ExpectColumns(**parsed, columns, &rng);
    }
  }
}

TEST(ChunkPiecesTest, ALargeArrayIsAlignedWhereAsked) {
  std::mt19937_64 rng(13);
  for (const Case& c :
       {Case{kLarge, 1, true, false, true}, Case{kLarge, 1, true, true, true},
        Case{kLarge, 2, true, false, false}, Case{kLarge, 1, false, false, false}, kSmall}) {
    std::vector<OwnedColumn> columns;
    const core::ChunkRef chunk = ChunkOf(c, &columns);
    for (const bool align : {true, false}) {
      std::string message(chunk->bytes());
      Result<core::ChunkRef> parsed = ParseChunk(Cursor(message), Keep, align);
      message.assign(message.size(), '#');
      ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
      const void* const array = ArrayInPlace(**parsed);
      ASSERT_EQ(array != nullptr, c.stays && align) << c.bytes;
      ExpectColumns(**parsed, columns, &rng);
      if (array == nullptr) continue;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(array) % kArrayAlignment, 0u);
      EXPECT_EQ(std::memcmp(array, columns[0].bytes.data(), columns[0].bytes.size()), 0);
    }
  }
}

TEST(ChunkPiecesTest, SeveralArraysOfAChunkAreNotAligned) {
  std::mt19937_64 rng(14);
  std::vector<OwnedColumn> columns(2);
  for (OwnedColumn& column : columns) {
    FillRandom(&rng, DType::kUint8, {1, static_cast<int64_t>(kMinBytesInPieces)}, false, &column);
  }
  const core::ChunkRef chunk = Encode(1, columns, false);
  Result<core::ChunkRef> parsed = ParseChunk(Cursor(chunk->bytes()), Keep, true);
  ASSERT_TRUE(parsed.ok());
  ASSERT_NE((*parsed)->pieces(), nullptr);
  EXPECT_EQ(ArrayInPlace(**parsed), nullptr);
  ExpectColumns(**parsed, columns, &rng);
}

TEST(ChunkPiecesTest, LargeLiteralsWithAnOwnerAreNotCopied) {
  std::mt19937_64 rng(12);
  for (const Case& c : {Case{kLarge, 8, true, false, true}, Case{kLarge, 8, false, false, false},
                        Case{kLarge, 8, true, true, false}, kSmall}) {
    std::vector<OwnedColumn> columns;
    const core::ChunkRef copy = ChunkOf(c, &columns);
    const auto owner = std::make_shared<int>(0);
    Result<core::ChunkRef> chunk = EncodeChunk(copy->header(), columns[0].view(), owner, nullptr);
    ASSERT_TRUE(chunk.ok()) << chunk.status().ToString();
    ASSERT_EQ((*chunk)->pieces() != nullptr, c.stays) << c.bytes;
    EXPECT_EQ(owner.use_count(), c.stays ? 2 : 1);
    EXPECT_EQ((*chunk)->num_bytes(), copy->num_bytes());
    ExpectColumns(**chunk, columns, &rng);
    const core::ChunkRef whole = core::Chunk::InOnePiece(*chunk);
    EXPECT_TRUE(whole->bytes() == copy->bytes());
    EXPECT_EQ(whole->header().uncompressed_size, copy->header().uncompressed_size);
    ExpectColumns(*whole, columns, &rng);
    if (!c.stays) continue;
    EXPECT_EQ((*chunk)->pieces()->views()[1].data(), columns[0].bytes.data());
    *chunk = whole;
    EXPECT_EQ(owner.use_count(), 1);
  }
}

TEST(ChunkPiecesTest, StringsAreAlwaysInOnePiece) {
  std::mt19937_64 rng(11);
  std::vector<OwnedColumn> columns(2);
  FillRandom(&rng, DType::kUint8, {2, static_cast<int64_t>(kMinBytesInPieces)}, false, &columns[0]);
  FillRandom(&rng, DType::kString, {2}, false, &columns[1]);
  const core::ChunkRef chunk = Encode(1, columns, false);
  Result<core::ChunkRef> parsed = ParseChunk(Cursor(chunk->bytes()), Keep);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ((*parsed)->pieces(), nullptr);
  ExpectColumns(**parsed, columns, &rng);
}

}  // namespace
}  // namespace reverb_tf::wire

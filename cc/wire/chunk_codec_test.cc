#include "cc/wire/chunk_codec.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cc/wire/testing/random_columns.h"
#include "proto/schema.pb.h"
#include "reverb_tf/sample.h"

namespace reverb_tf::wire {
namespace {

using testing::AllDTypes;
using testing::Encode;
using testing::FillRandom;
using testing::OwnedColumn;
using testing::RandomDims;

// Rows [first, first + count) of column i come back as they were.
void ExpectRows(const core::Chunk& chunk, int i, const OwnedColumn& column, int64_t first,
                int64_t count) {
  const int64_t rows = column.dims[0];
  if (column.dtype == DType::kString) {
    std::vector<std::string_view> strings;
    ASSERT_TRUE(DecodeStrings(chunk, i, first, count, &strings).ok());
    const auto row = static_cast<int64_t>(column.strings.size()) / rows;
    ASSERT_EQ(static_cast<int64_t>(strings.size()), count * row);
    for (size_t s = 0; s < strings.size(); ++s) {
      ASSERT_TRUE(strings[s] == column.strings[static_cast<size_t>(first * row) + s]);
    }
    return;
  }
  const size_t row_bytes = column.bytes.size() / static_cast<size_t>(rows);
  ASSERT_EQ(RowBytes(chunk.tensor(i)), row_bytes);
  // Room on both sides shows writes outside; the odd start shows that alignment is not needed.
  std::vector<char> out(row_bytes * static_cast<size_t>(count) + 2, '#');
  ASSERT_TRUE(DecodeRows(chunk, i, first, count, out.data() + 1).ok());
  ASSERT_TRUE(std::equal(out.begin() + 1, out.end() - 1,
                         column.bytes.begin() + static_cast<int64_t>(row_bytes) * first));
  ASSERT_EQ(out.front(), '#');
  ASSERT_EQ(out.back(), '#');
}

void ExpectColumns(const core::Chunk& chunk, const std::vector<OwnedColumn>& columns,
                   std::mt19937_64* rng) {
  ASSERT_EQ(chunk.num_tensors(), static_cast<int>(columns.size()));
  for (int i = 0; i < chunk.num_tensors(); ++i) {
    const OwnedColumn& column = columns[static_cast<size_t>(i)];
    const core::ChunkTensor& tensor = chunk.tensor(i);
    ASSERT_EQ(tensor.dtype, column.dtype);
    ASSERT_EQ(std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank), column.dims);
    ExpectRows(chunk, i, column, 0, column.dims[0]);
    const auto first = static_cast<int64_t>((*rng)() % static_cast<uint64_t>(column.dims[0]));
    const auto most = static_cast<uint64_t>(column.dims[0] - first);
    ExpectRows(chunk, i, column, first, static_cast<int64_t>((*rng)() % (most + 1)));
  }
}

struct RandomChunk {
  explicit RandomChunk(std::mt19937_64* rng) : columns((*rng)() % 4 + 1) {
    const auto rows = static_cast<int64_t>((*rng)() % 9 + 1);
    for (OwnedColumn& column : columns) {
      const DType dtype = AllDTypes()[(*rng)() % AllDTypes().size()];
      FillRandom(rng, dtype, RandomDims(rng, rows), (*rng)() % 2 == 0, &column);
    }
    chunk = Encode((*rng)(), columns, (*rng)() % 2 == 0);
  }
  std::vector<OwnedColumn> columns;
  core::ChunkRef chunk;
};

TEST(ChunkCodecTest, RandomColumnsComeBack) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 500; ++i) {
    const RandomChunk random(&rng);
    ExpectColumns(*random.chunk, random.columns, &rng);
    Result<core::ChunkRef> parsed = ParseChunk(random.chunk->bytes());
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    ExpectColumns(**parsed, random.columns, &rng);
    const core::Chunk::Header& a = random.chunk->header();
    const core::Chunk::Header& b = (*parsed)->header();
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.episode_id, b.episode_id);
    EXPECT_EQ(a.first_step, b.first_step);
    EXPECT_EQ(a.last_step, b.last_step);
    EXPECT_EQ(a.num_rows, b.num_rows);
    EXPECT_EQ(a.delta_encoded, b.delta_encoded);
    EXPECT_EQ(a.uncompressed_size, b.uncompressed_size);
    EXPECT_EQ((*parsed)->bytes(), random.chunk->bytes());
  }
}

TEST(ChunkCodecTest, EveryDTypeAndRankWithAndWithoutDelta) {
  std::mt19937_64 rng(2);
  for (const DType dtype : AllDTypes()) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{1}, {7}, {3, 0}, {5, 2}, {4, 1, 3}, {2, 2, 2, 2}, {100, 10}}) {
      for (const bool delta : {false, true}) {
        std::vector<OwnedColumn> columns(1);
        FillRandom(&rng, dtype, dims, delta, &columns[0]);
        ExpectColumns(*Encode(1, columns, delta), columns, &rng);
      }
    }
  }
}

TEST(ChunkCodecTest, IsAChunkDataMessage) {
  std::mt19937_64 rng(3);
  std::vector<OwnedColumn> columns(2);
  FillRandom(&rng, DType::kInt32, {10, 50}, true, &columns[0]);
  FillRandom(&rng, DType::kString, {10}, false, &columns[1]);
  deepmind::reverb::ChunkData message;
  ASSERT_TRUE(message.ParseFromString(std::string(Encode(77, columns)->bytes())));
  EXPECT_EQ(message.chunk_key(), 77u);
  EXPECT_EQ(message.sequence_range().episode_id(), 5u);
  EXPECT_EQ(message.sequence_range().start(), 2);
  EXPECT_EQ(message.sequence_range().end(), 11);
  EXPECT_EQ(message.data_tensors_len(), 2);
  ASSERT_EQ(message.data().tensors_size(), 2);
  const auto& numbers = message.data().tensors(0);
  EXPECT_EQ(numbers.dtype(), tensorflow_compat::DT_INT32);
  EXPECT_EQ(numbers.tensor_shape().dim(1).size(), 50);
  EXPECT_LT(numbers.tensor_content().size(), 2000u);
  std::string raw;
  ASSERT_TRUE(
      snappy::Uncompress(numbers.tensor_content().data(), numbers.tensor_content().size(), &raw));
  EXPECT_TRUE(raw == std::string(columns[0].bytes.begin(), columns[0].bytes.end()));
}

TEST(ChunkCodecTest, DeltaIsModularDifferenceOfRows) {
  const std::vector<uint8_t> values = {250, 1, 4, 0};
  OwnedColumn column;
  column.dtype = DType::kUint8;
  column.dims = {2, 2};
  column.bytes.assign(values.begin(), values.end());
  const TensorView view = column.view();
  core::Chunk::Header header;
  header.num_rows = 2;
  header.delta_encoded = true;
  const core::ChunkRef chunk = EncodeChunk(header, &view, 1, nullptr).value();
  EXPECT_EQ(chunk->content(0), std::string("\x04\x0c\xfa\x01\x0a\xff", 6));
}

TEST(ChunkCodecTest, NoiseIsFramedAsALiteral) {
  std::mt19937_64 rng(4);
  std::vector<OwnedColumn> columns(1);
  FillRandom(&rng, DType::kFloat32, {1, 100000}, false, &columns[0]);
  const core::ChunkRef chunk = Encode(1, columns);
  EXPECT_LE(chunk->bytes().size(), 400000u + 64u);
}

TEST(CompressionAdvisorTest, StopsTryingNoiseAndAsksAgainLater) {
  CompressionAdvisor advisor;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(advisor.ShouldCompress());
    advisor.Report(1000, 999);
  }
  int skipped = 0;
  while (!advisor.ShouldCompress()) ++skipped;
  EXPECT_GE(skipped, 10);
  EXPECT_LE(skipped, 1000);
  advisor.Report(1000, 100);
  EXPECT_TRUE(advisor.ShouldCompress());
}

TEST(ChunkCodecTest, EncodeRefusesWhatCannotBeAChunk) {
  std::mt19937_64 rng(5);
  std::vector<OwnedColumn> columns(2);
  FillRandom(&rng, DType::kInt32, {2}, false, &columns[0]);
  FillRandom(&rng, DType::kInt32, {3}, false, &columns[1]);
  const TensorView views[] = {columns[0].view(), columns[1].view()};
  core::Chunk::Header header;
  header.num_rows = 2;
  EXPECT_EQ(EncodeChunk(header, views, 0, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(EncodeChunk(header, views, 2, nullptr).status().code(), StatusCode::kInvalidArgument);
  TensorView bad = views[0];
  bad.dtype = static_cast<DType>(20);
  EXPECT_EQ(EncodeChunk(header, &bad, 1, nullptr).status().code(), StatusCode::kInvalidArgument);
  bad = views[0];
  bad.rank = 0;
  EXPECT_EQ(EncodeChunk(header, &bad, 1, nullptr).status().code(), StatusCode::kInvalidArgument);
}

// What is cut off or changed is refused or is a chunk that decodes; never more.
void ParseAndDecodeAll(const std::string& bytes) {
  Result<core::ChunkRef> parsed = ParseChunk(bytes);
  if (!parsed.ok()) {
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    return;
  }
  const core::Chunk& chunk = **parsed;
  ASSERT_GE(chunk.num_tensors(), 1);
  for (int i = 0; i < chunk.num_tensors(); ++i) {
    const core::ChunkTensor& tensor = chunk.tensor(i);
    ASSERT_EQ(tensor.dims[0], chunk.header().num_rows);
    if (tensor.dtype == DType::kString) {
      std::vector<std::string_view> strings;
      EXPECT_TRUE(DecodeStrings(chunk, i, 0, tensor.dims[0], &strings).ok());
    } else {
      std::vector<char> out(RowBytes(tensor) * static_cast<size_t>(tensor.dims[0]));
      EXPECT_TRUE(DecodeRows(chunk, i, 0, tensor.dims[0], out.data()).ok());
    }
  }
}

TEST(ChunkCodecTest, EveryTruncationIsHarmless) {
  std::mt19937_64 rng(6);
  for (int i = 0; i < 20; ++i) {
    const RandomChunk random(&rng);
    const std::string bytes(random.chunk->bytes().substr(0, 3000));
    for (size_t n = 0; n < bytes.size(); ++n) ParseAndDecodeAll(bytes.substr(0, n));
  }
}

TEST(ChunkCodecTest, DamageIsHarmless) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes;
    if (i % 4 == 0) {
      bytes.resize(rng() % 200);
      for (char& c : bytes) c = static_cast<char>(rng());
    } else {
      static const RandomChunk* const base = new RandomChunk(&rng);
      static const RandomChunk* const other = new RandomChunk(&rng);
      bytes = std::string((i % 2 == 0 ? base : other)->chunk->bytes());
      for (size_t flips = rng() % 4 + 1; flips > 0; --flips) {
        bytes[rng() % std::min<size_t>(bytes.size(), 200)] = static_cast<char>(rng());
      }
    }
    ParseAndDecodeAll(bytes);
  }
}

TEST(ChunkCodecTest, PiecesOfAnySizeReadTheSame) {
  std::mt19937_64 rng(8);
  for (int i = 0; i < 200; ++i) {
    const RandomChunk random(&rng);
    const std::string_view bytes = random.chunk->bytes();
    std::vector<std::string_view> pieces;
    for (size_t at = 0; at < bytes.size();) {
      const size_t n = std::min<size_t>(bytes.size() - at, rng() % (i + 2));
      pieces.push_back(bytes.substr(at, n));
      at += n;
    }
    Result<core::ChunkRef> parsed = ParseChunk(Cursor(pieces.data(), pieces.size()));
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    ExpectColumns(**parsed, random.columns, &rng);
  }
}

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

// Of one column of `rows` rows of random numbers (or of zeros).
core::ChunkRef ChunkOfBytes(size_t bytes, int64_t rows, bool noise, bool delta,
                            std::vector<OwnedColumn>* columns) {
  std::mt19937_64 rng(bytes);
  *columns = std::vector<OwnedColumn>(1);
  const auto row = static_cast<int64_t>(bytes) / rows;
  FillRandom(&rng, DType::kUint8, {rows, row}, false, &columns->front());
  if (!noise) std::fill(columns->front().bytes.begin(), columns->front().bytes.end(), 0);
  return Encode(7, *columns, delta);
}

TEST(ChunkCodecTest, LargeLiteralsStayInTheirPieces) {
  std::mt19937_64 rng(10);
  const size_t kLarge = 2 * kMinBytesInPieces;
  struct Case {
    size_t bytes;
    bool noise;
    bool delta;
    bool in_pieces;
  };
  for (const Case& c :
       {Case{kLarge, true, false, true}, Case{kLarge, true, true, true},
        Case{kLarge, false, false, false}, Case{kMinBytesInPieces / 2, true, false, false}}) {
    std::vector<OwnedColumn> columns;
    const core::ChunkRef chunk = ChunkOfBytes(c.bytes, 8, c.noise, c.delta, &columns);
    for (const size_t piece : {size_t{64} << 10, size_t{1000}, size_t{1} << 30}) {
      std::string message = "before" + std::string(chunk->bytes()) + "behind";
      std::vector<std::string_view> pieces;
      for (size_t at = 0; at < message.size(); at += piece) {
        pieces.push_back(std::string_view(message).substr(at, piece));
      }
      Cursor cursor(pieces.data(), pieces.size());
      ASSERT_TRUE(cursor.Skip(6));
      Result<core::ChunkRef> parsed =
          ParseChunk(cursor.First(chunk->num_bytes()),
                     [](const Cursor& part) { return std::make_unique<OwnedPieces>(part); });
      message.assign(message.size(), '#');
      ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
      EXPECT_EQ((*parsed)->pieces() != nullptr, c.in_pieces) << c.bytes;
      EXPECT_EQ((*parsed)->num_bytes(), chunk->num_bytes());
      EXPECT_EQ((*parsed)->header().uncompressed_size, chunk->header().uncompressed_size);
      for (int i = 0; i < 5; ++i) ExpectColumns(**parsed, columns, &rng);
    }
  }
}

TEST(ChunkCodecTest, ALargeArrayIsAlignedWhereAsked) {
  std::mt19937_64 rng(13);
  const size_t kLarge = 2 * kMinBytesInPieces;
  struct Case {
    size_t bytes;
    int64_t rows;
    bool noise;
    bool delta;
    bool in_place;
  };
  for (const Case& c : {Case{kLarge, 1, true, false, true}, Case{kLarge, 1, true, true, true},
                        Case{kLarge, 2, true, false, false}, Case{kLarge, 1, false, false, false},
                        Case{kMinBytesInPieces / 2, 1, true, false, false}}) {
    std::vector<OwnedColumn> columns;
    const core::ChunkRef chunk = ChunkOfBytes(c.bytes, c.rows, c.noise, c.delta, &columns);
    for (const bool align : {true, false}) {
      std::string message(chunk->bytes());
      Result<core::ChunkRef> parsed = ParseChunk(
          Cursor(message), [](const Cursor& part) { return std::make_unique<OwnedPieces>(part); },
          align);
      message.assign(message.size(), '#');
      ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
      const void* const array = ArrayInPlace(**parsed);
      ASSERT_EQ(array != nullptr, c.in_place && align) << c.bytes;
      ExpectColumns(**parsed, columns, &rng);
      if (array == nullptr) continue;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(array) % kArrayAlignment, 0u);
      EXPECT_EQ(std::memcmp(array, columns[0].bytes.data(), columns[0].bytes.size()), 0);
    }
  }
}

TEST(ChunkCodecTest, SeveralArraysOfAChunkAreNotAligned) {
  std::mt19937_64 rng(14);
  std::vector<OwnedColumn> columns(2);
  for (OwnedColumn& column : columns) {
    FillRandom(&rng, DType::kUint8, {1, static_cast<int64_t>(kMinBytesInPieces)}, false, &column);
  }
  const core::ChunkRef chunk = Encode(1, columns, false);
  Result<core::ChunkRef> parsed = ParseChunk(
      Cursor(chunk->bytes()),
      [](const Cursor& part) { return std::make_unique<OwnedPieces>(part); }, true);
  ASSERT_TRUE(parsed.ok());
  ASSERT_NE((*parsed)->pieces(), nullptr);
  EXPECT_EQ(ArrayInPlace(**parsed), nullptr);
  ExpectColumns(**parsed, columns, &rng);
}

TEST(ChunkCodecTest, LargeLiteralsWithAnOwnerAreNotCopied) {
  std::mt19937_64 rng(12);
  struct Case {
    size_t bytes;
    bool noise;
    bool delta;
    bool in_pieces;
  };
  const size_t kLarge = 2 * kMinBytesInPieces;
  for (const Case& c :
       {Case{kLarge, true, false, true}, Case{kLarge, false, false, false},
        Case{kLarge, true, true, false}, Case{kMinBytesInPieces / 2, true, false, false}}) {
    std::vector<OwnedColumn> columns;
    const core::ChunkRef copy = ChunkOfBytes(c.bytes, 8, c.noise, c.delta, &columns);
    const auto owner = std::make_shared<int>(0);
    Result<core::ChunkRef> chunk = EncodeChunk(copy->header(), columns[0].view(), owner, nullptr);
    ASSERT_TRUE(chunk.ok()) << chunk.status().ToString();
    ASSERT_EQ((*chunk)->pieces() != nullptr, c.in_pieces) << c.bytes;
    EXPECT_EQ(owner.use_count(), c.in_pieces ? 2 : 1);
    EXPECT_EQ((*chunk)->num_bytes(), copy->num_bytes());
    ExpectColumns(**chunk, columns, &rng);
    const core::ChunkRef whole = core::Chunk::InOnePiece(*chunk);
    EXPECT_TRUE(whole->bytes() == copy->bytes());
    EXPECT_EQ(whole->header().uncompressed_size, copy->header().uncompressed_size);
    ExpectColumns(*whole, columns, &rng);
    if (!c.in_pieces) continue;
    EXPECT_EQ((*chunk)->pieces()->views()[1].data(), columns[0].bytes.data());
    *chunk = whole;
    EXPECT_EQ(owner.use_count(), 1);
  }
}

TEST(ChunkCodecTest, StringsAreAlwaysInOnePiece) {
  std::mt19937_64 rng(11);
  std::vector<OwnedColumn> columns(2);
  FillRandom(&rng, DType::kUint8, {2, static_cast<int64_t>(kMinBytesInPieces)}, false, &columns[0]);
  FillRandom(&rng, DType::kString, {2}, false, &columns[1]);
  const core::ChunkRef chunk = Encode(1, columns, false);
  Result<core::ChunkRef> parsed = ParseChunk(Cursor(chunk->bytes()), [](const Cursor& part) {
    return std::make_unique<OwnedPieces>(part);
  });
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ((*parsed)->pieces(), nullptr);
  ExpectColumns(**parsed, columns, &rng);
}

class MalformedChunkTest : public ::testing::Test {
 protected:
  MalformedChunkTest() {
    std::mt19937_64 rng(9);
    std::vector<OwnedColumn> columns(2);
    FillRandom(&rng, DType::kInt32, {3, 2}, false, &columns[0]);
    FillRandom(&rng, DType::kString, {3}, false, &columns[1]);
    EXPECT_TRUE(message_.ParseFromString(std::string(Encode(1, columns)->bytes())));
  }
  auto* tensor(int i) { return message_.mutable_data()->mutable_tensors(i); }
  std::string Error() const {
    const Status status = ParseChunk(message_.SerializeAsString()).status();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kInvalidArgument);
    return status.message();
  }

  deepmind::reverb::ChunkData message_;
};

TEST_F(MalformedChunkTest, Accepted) { EXPECT_EQ(Error(), ""); }

TEST_F(MalformedChunkTest, Dims) {
  auto* shape = tensor(0)->mutable_tensor_shape();
  shape->mutable_dim(1)->set_size(-2);
  EXPECT_EQ(Error(), "Chunk 1: shape [3,?] has the dimension -2");
  shape->mutable_dim(1)->set_size(int64_t{1} << 62);
  EXPECT_NE(Error().find("too many elements"), std::string::npos);
  shape->mutable_dim(1)->set_size(int64_t{1} << 40);
  EXPECT_NE(Error().find("more than the"), std::string::npos);
  shape->mutable_dim(1)->set_size(3);
  EXPECT_NE(Error().find("declares 24 bytes, but dtype and shape need 36"), std::string::npos);
  shape->clear_dim();
  EXPECT_NE(Error().find("a tensor has 0 dimensions"), std::string::npos);
  shape->set_unknown_rank(true);
  EXPECT_NE(Error().find("a tensor has unknown dimensions"), std::string::npos);
}

TEST_F(MalformedChunkTest, Rows) {
  tensor(1)->mutable_tensor_shape()->mutable_dim(0)->set_size(2);
  EXPECT_EQ(Error(), "Chunk 1: one tensor has 3 rows, another 2; expected the same number");
  tensor(0)->mutable_tensor_shape()->mutable_dim(0)->set_size(0);
  EXPECT_NE(Error().find("0 rows"), std::string::npos);
  tensor(0)->mutable_tensor_shape()->mutable_dim(0)->set_size(int64_t{1} << 31);
  EXPECT_NE(Error().find("2147483648 rows"), std::string::npos);
}

TEST_F(MalformedChunkTest, DTypes) {
  for (const int dtype : {0, 20, 21, 34, 63, 101, 1000000, -1}) {
    tensor(0)->set_dtype(static_cast<tensorflow_compat::DataType>(dtype));
    EXPECT_EQ(Error(), "Chunk 1: dtype number " + std::to_string(dtype) + " is not supported");
  }
}

TEST_F(MalformedChunkTest, Contents) {
  tensor(0)->set_tensor_content("");
  EXPECT_NE(Error().find("more than the 0 bytes"), std::string::npos);
  tensor(0)->set_tensor_content("\x18garbage");
  EXPECT_NE(Error().find("snappy"), std::string::npos);
  tensor(0)->set_tensor_content(std::string("\xff\xff\xff\xff\x0f", 5));
  EXPECT_NE(Error().find("declares 4294967295 bytes"), std::string::npos);
}

TEST_F(MalformedChunkTest, Strings) {
  tensor(1)->set_tensor_content(std::string("\x01\x01", 2));
  EXPECT_EQ(Error(), "Chunk 1: 3 strings cannot be packed in 2 bytes");
  tensor(1)->set_tensor_content(
      std::string("\x01\x01\x02"
                  "abc",
                  6));
  EXPECT_EQ(Error(),
            "Chunk 1: the lengths of a list of strings sum up to 4 bytes, but there are 3");
  tensor(1)->set_tensor_content(std::string("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_EQ(Error(), "Chunk 1: a list of strings has a malformed length");
  tensor(1)->set_tensor_content(
      std::string("\x01\x01\x01"
                  "abc",
                  6));
  EXPECT_EQ(Error(), "");
}

TEST_F(MalformedChunkTest, Header) {
  message_.set_data_tensors_len(3);
  EXPECT_EQ(Error(), "Chunk 1: data_tensors_len is 3, but there are 2 tensors");
  message_.set_data_tensors_len(0);
  EXPECT_EQ(Error(), "");
  message_.mutable_sequence_range()->set_end(1);
  EXPECT_EQ(Error(), "Chunk 1: the range of steps ends (1) before it starts (2)");
  message_.Clear();
  message_.set_chunk_key(3);
  EXPECT_EQ(Error(), "Chunk 3: there is no tensor");
}

TEST_F(MalformedChunkTest, OldForms) {
  const std::string present = message_.SerializeAsString();
  message_.mutable_deprecated_data()->CopyFrom(message_.data().tensors());
  EXPECT_EQ(Error(), "Chunk 1: the chunk has both data and deprecated_data");
  message_.clear_data();
  EXPECT_EQ(Error(), "");

  ASSERT_TRUE(message_.ParseFromString(present));
  tensor(1)->set_tensor_content("");
  for (const char* s : {"a", "", "ccc"}) tensor(1)->add_string_val(s);
  const core::ChunkRef chunk = ParseChunk(message_.SerializeAsString()).value();
  std::vector<std::string_view> strings;
  ASSERT_TRUE(DecodeStrings(*chunk, 1, 0, 3, &strings).ok());
  EXPECT_EQ(strings, (std::vector<std::string_view>{"a", "", "ccc"}));
  tensor(1)->add_string_val("one too many");
  EXPECT_EQ(Error(), "Chunk 1: string_val has 4 values, but the shape has 3 elements");
}

}  // namespace
}  // namespace reverb_tf::wire

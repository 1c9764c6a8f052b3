#include "cc/wire/chunk_codec.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cc/wire/testing/expect_columns.h"
#include "cc/wire/testing/random_columns.h"
#include "proto/schema.pb.h"

namespace reverb_tf::wire {
namespace {

using testing::AllDTypes;
using testing::Encode;
using testing::ExpectColumns;
using testing::FillRandom;
using testing::OwnedColumn;
using testing::RandomDims;

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

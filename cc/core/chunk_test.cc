#include "cc/core/chunk.h"

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

Chunk::Header MakeHeader() {
  Chunk::Header header;
  header.key = 11;
  header.episode_id = 22;
  header.first_step = 3;
  header.last_step = 4;
  header.num_rows = 2;
  header.delta_encoded = true;
  return header;
}

TEST(ChunkTest, HoldsWhatItWasBuiltFrom) {
  Chunk::Builder builder(MakeHeader(), 2, 3, 10);
  std::memcpy(builder.bytes(), "0123456789", 10);
  int64_t dims[] = {2, 5};
  builder.AddTensor(DType::kFloat32, dims, 2, 1, 4);
  builder.AddTensor(DType::kString, dims, 1, 10, 0);
  dims[0] = dims[1] = -1;  // copied
  const ChunkRef chunk = std::move(builder).Build();

  EXPECT_EQ(chunk->key(), 11u);
  EXPECT_EQ(chunk->header().episode_id, 22u);
  EXPECT_TRUE(chunk->header().delta_encoded);
  EXPECT_EQ(chunk->bytes(), "0123456789");
  ASSERT_EQ(chunk->num_tensors(), 2);
  EXPECT_EQ(chunk->content(0), "1234");
  EXPECT_EQ(chunk->content(1), "");
  EXPECT_EQ(chunk->tensor(0).dtype, DType::kFloat32);
  EXPECT_EQ(chunk->tensor(0).rank, 2);
  EXPECT_EQ(chunk->tensor(0).dims[0], 2);
  EXPECT_EQ(chunk->tensor(0).dims[1], 5);
  EXPECT_EQ(chunk->tensor(1).dims[0], 2);
}

TEST(ChunkTest, OverheadIsSmall) {
  Chunk::Builder builder(MakeHeader(), 1, 1, 1000);
  const int64_t dims[] = {2};
  builder.AddTensor(DType::kUint8, dims, 1, 0, 1000);
  EXPECT_LE(std::move(builder).Build()->memory_bytes(), 1000u + 96u);
}

class TextPieces : public ChunkPieces {
 public:
  TextPieces(std::vector<std::string_view> views, bool* deleted) : deleted_(deleted) {
    views_ = std::move(views);
  }
  ~TextPieces() override { *deleted_ = true; }

 private:
  bool* const deleted_;
};

TEST(ChunkTest, KeepsItsPiecesAlive) {
  bool deleted = false;
  Chunk::Builder builder(
      MakeHeader(), 1, 1,
      std::make_unique<TextPieces>(std::vector<std::string_view>{"012", "3456"}, &deleted), 7);
  const int64_t dims[] = {2};
  builder.AddTensor(DType::kUint8, dims, 1, 5, 2);
  ChunkRef chunk = std::move(builder).Build();
  EXPECT_EQ(chunk->num_bytes(), 7u);
  EXPECT_EQ(chunk->tensor(0).content_offset, 5u);
  ASSERT_NE(chunk->pieces(), nullptr);
  EXPECT_EQ(chunk->pieces()->views(), (std::vector<std::string_view>{"012", "3456"}));
  EXPECT_DEATH(chunk->bytes(), "not in one piece");
  EXPECT_DEATH(chunk->content(0), "not in one piece");
  EXPECT_FALSE(deleted);
  chunk = nullptr;
  EXPECT_TRUE(deleted);
}

TEST(ChunkTest, UnfinishedChunkIsFreed) {
  Chunk::Builder builder(MakeHeader(), 1, 1, 10);  // AddressSanitizer looks for the leak
}

TEST(ChunkDeathTest, WrongUseEndsTheProcess) {
  const int64_t dims[] = {2};
  const auto build = [&](size_t offset, size_t size, int rank) {
    Chunk::Builder builder(MakeHeader(), 1, 1, 10);
    builder.AddTensor(DType::kUint8, dims, rank, offset, size);
  };
  EXPECT_DEATH(build(5, 6, 1), "content outside of the bytes");
  EXPECT_DEATH(build(11, 0, 1), "content outside of the bytes");
  EXPECT_DEATH(build(0, 1, 0), "rank below 1");
  EXPECT_DEATH(build(0, 1, 2), "too many dims");
  const auto build_nothing = [] {
    Chunk::Builder builder(MakeHeader(), 1, 1, 10);
    std::move(builder).Build();
  };
  EXPECT_DEATH(build_nothing(), "fewer tensors than announced");
  EXPECT_DEATH(Chunk::Builder(MakeHeader(), 1, 1, size_t{1} << 31), "2 GiB or more");
  bool deleted = false;
  EXPECT_DEATH(Chunk::Builder(
                   MakeHeader(), 0, 0,
                   std::make_unique<TextPieces>(std::vector<std::string_view>{"01"}, &deleted), 3),
               "another size than announced");
}

TEST(RefPtrTest, CopiesShareAndMovesDoNot) {
  Chunk::Builder builder(MakeHeader(), 0, 0, 0);
  ChunkRef one = std::move(builder).Build();
  ChunkRef two = one;
  EXPECT_EQ(one, two);
  const ChunkRef three = std::move(one);
  EXPECT_FALSE(one);  // NOLINT: on purpose
  two.reset();
  EXPECT_FALSE(two);
  EXPECT_EQ(three->key(), 11u);
  two = three;
  two = ChunkRef(two);
  EXPECT_EQ(two, three);
}

}  // namespace
}  // namespace reverb_tf::core

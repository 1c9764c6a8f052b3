#include "cc/core/trajectory.h"

#include <functional>
#include <utility>
#include <vector>

#include "cc/core/testing/test_items.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::HasSubstr;

// Tensors: 0 float [rows, 2], 1 int32 [rows, 2], 2 float [rows, 3], 3 float [rows].
ChunkRef MakeChunk(uint64_t key, int32_t rows) {
  Chunk::Header header;
  header.key = key;
  header.num_rows = rows;
  Chunk::Builder builder(header, 4, 7, 8);
  const int64_t two[] = {rows, 2}, three[] = {rows, 3};
  builder.AddTensor(DType::kFloat32, two, 2, 0, 8);
  builder.AddTensor(DType::kInt32, two, 2, 0, 8);
  builder.AddTensor(DType::kFloat32, three, 2, 0, 8);
  builder.AddTensor(DType::kFloat32, two, 1, 0, 8);
  return std::move(builder).Build();
}

struct Parts {
  std::vector<ChunkRef> chunks = {MakeChunk(1, 4), MakeChunk(2, 3)};
  std::vector<Column> columns = {{0, 2, false}, {2, 1, true}};
  std::vector<ChunkSlice> slices = {{0, 1, 3, 0}, {1, 0, 2, 0}, {1, 2, 1, 1}};
};

TEST(TrajectoryTest, HoldsWhatItWasMadeOf) {
  Parts parts;
  const ChunkRef second = parts.chunks[1];
  const TrajectoryRef trajectory =
      Trajectory::Create(std::move(parts.chunks), parts.columns, parts.slices).value();
  EXPECT_EQ(trajectory->num_chunks(), 2);
  EXPECT_EQ(trajectory->chunk(0)->key(), 1u);
  EXPECT_EQ(trajectory->chunk(1), second);
  EXPECT_EQ(trajectory->num_columns(), 2);
  EXPECT_FALSE(trajectory->column(0).squeeze);
  EXPECT_TRUE(trajectory->column(1).squeeze);
  EXPECT_EQ(trajectory->num_slices(), 3);
  EXPECT_EQ(trajectory->slice(2).chunk, 1u);
  EXPECT_EQ(trajectory->slice(2).offset, 2);
  EXPECT_EQ(trajectory->num_rows(0), 5);
  EXPECT_EQ(trajectory->num_rows(1), 1);
  EXPECT_EQ(trajectory->chunk_bytes(), 16u);
}

TEST(TrajectoryTest, KeepsItsChunks) {
  TrajectoryRef trajectory;
  {
    Parts parts;
    trajectory = Trajectory::Create(std::move(parts.chunks), parts.columns, parts.slices).value();
  }
  EXPECT_EQ(trajectory->chunk(1)->num_tensors(), 4);
}

TEST(TrajectoryTest, EverythingAReaderReliesOnIsChecked) {
  const auto error = [](const std::function<void(Parts*)>& change) {
    Parts parts;
    change(&parts);
    const Status status =
        Trajectory::Create(std::move(parts.chunks), parts.columns, parts.slices).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(error([](Parts* p) { *p = {{}, {}, {}}; }), HasSubstr("no columns"));
  EXPECT_THAT(error([](Parts* p) { p->columns[0].num_slices = 0; }), HasSubstr("Column 0 of the"));
  EXPECT_THAT(error([](Parts* p) { p->columns[1].first_slice = 1; }), HasSubstr("slices 1 to 2"));
  EXPECT_THAT(error([](Parts* p) { p->columns[1].num_slices = 2; }), HasSubstr("of 3"));
  EXPECT_THAT(error([](Parts* p) { p->columns[1].num_slices = 0xffffffff; }),
              HasSubstr("slices 2 to 4294967297"));
  EXPECT_THAT(error([](Parts* p) { p->columns.pop_back(); }), HasSubstr("use 2 of 3 slices"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].chunk = 2; }), HasSubstr("chunk number 2 of 2"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].tensor = 4; }), HasSubstr("tensor 4 of chunk 1"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].tensor = -1; }), HasSubstr("tensor -1"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].offset = -1; }), HasSubstr("from row -1"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].offset = 2; }), HasSubstr("which has 4 rows"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].offset = 0x7fffffff; }), HasSubstr("4 rows"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].length = 0; }), HasSubstr("a slice of 0 rows"));
  EXPECT_THAT(error([](Parts* p) { p->slices[0].length = -2; }), HasSubstr("a slice of -2 rows"));
  EXPECT_THAT(error([](Parts* p) { p->slices[1].tensor = 1; }), HasSubstr("float and int32"));
  EXPECT_THAT(error([](Parts* p) { p->slices[1].tensor = 2; }), HasSubstr("[2] and [3]"));
  EXPECT_THAT(error([](Parts* p) { p->slices[1].tensor = 3; }), HasSubstr("[2] and []"));
  EXPECT_THAT(error([](Parts* p) { p->columns[0].squeeze = true; }), HasSubstr("has 5 rows"));
  EXPECT_THAT(error([](Parts* p) { std::swap(p->chunks[0], p->chunks[1]); }), HasSubstr("rows"));
  EXPECT_THAT(error([](Parts* p) { p->chunks.push_back(MakeChunk(3, 1)); }),
              HasSubstr("use 2 of 3 chunks"));
  EXPECT_THAT(error([](Parts* p) { p->chunks[1] = MakeChunk(1, 3); }), HasSubstr("listed twice"));
  EXPECT_THAT(error([](Parts* p) { p->chunks[1].reset(); }), HasSubstr("null"));
  EXPECT_THAT(error([](Parts* p) {
                p->slices[0] = {1, 0, 2, 0};
                p->slices[1] = {0, 0, 2, 0};
              }),
              HasSubstr("order of their first use"));
}

}  // namespace
}  // namespace reverb_tf::core

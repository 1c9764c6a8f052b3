// How the columns of one step are put into chunks.
#include "cc/client/step_encoder.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "cc/client/testing/test_data.h"
#include "cc/wire/chunk_codec.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

TestArray<float> Floats(int64_t n) {
  std::mt19937 rng(static_cast<uint32_t>(n));
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(rng());
  return {DType::kFloat32, {n}, std::move(values)};
}

// Which chunk each column is in.
std::vector<uint32_t> Chunks(const core::Trajectory& step) {
  std::vector<uint32_t> chunks;
  for (int i = 0; i < step.num_columns(); ++i) {
    chunks.push_back(step.slice(step.column(i).first_slice).chunk);
  }
  return chunks;
}

TEST(StepEncoderTest, SmallColumnsShareAChunk) {
  const TestArray<float> a = Floats(10);
  const TestArray<float> b = Floats(1000);
  const TensorView views[] = {a.view(), b.view(), a.view()};
  StepEncoder encoder;
  const core::TrajectoryRef step = encoder.Encode(views, 3).value();
  EXPECT_EQ(step->num_chunks(), 1);
  EXPECT_EQ(Chunks(*step), (std::vector<uint32_t>{0, 0, 0}));
}

TEST(StepEncoderTest, LargeColumnsHaveChunksOfTheirOwn) {
  const TestArray<float> small = Floats(10);
  const TestArray<float> large = Floats(100'000);
  const std::string_view text = "text";
  TensorView string;
  string.dtype = DType::kString;
  string.data = &text;
  const TensorView views[] = {large.view(), small.view(), large.view(), string, small.view()};
  StepEncoder encoder;
  const core::TrajectoryRef step = encoder.Encode(views, 5).value();
  EXPECT_EQ(Chunks(*step), (std::vector<uint32_t>{0, 1, 2, 1, 1}));
  std::set<uint64_t> keys;
  for (int i = 0; i < step->num_chunks(); ++i) {
    EXPECT_EQ(step->chunk(i)->header().episode_id, step->chunk(0)->header().episode_id);
    keys.insert(step->chunk(i)->key());
  }
  EXPECT_EQ(keys.size(), 3u);
  for (int i = 0; i < 5; ++i) {
    const core::ChunkSlice& slice = step->slice(step->column(i).first_slice);
    const core::Chunk& chunk = *step->chunk(static_cast<int>(slice.chunk));
    EXPECT_EQ(slice.length, 1);
    if (i == 3) {
      std::vector<std::string_view> strings;
      ASSERT_TRUE(wire::DecodeStrings(chunk, slice.tensor, 0, 1, &strings).ok());
      EXPECT_EQ(strings, std::vector<std::string_view>{text});
      continue;
    }
    std::vector<char> bytes(views[i].num_bytes());
    ASSERT_TRUE(wire::DecodeRows(chunk, slice.tensor, 0, 1, bytes.data()).ok());
    EXPECT_EQ(std::memcmp(bytes.data(), views[i].data, bytes.size()), 0);
  }
}

TEST(StepEncoderTest, StepsInSeveralChunksAreChecked) {
  const TestArray<float> small = Floats(10);
  const TestArray<float> large = Floats(100'000);
  const TensorView views[] = {large.view(), small.view()};
  StepEncoder encoder;
  const core::TrajectoryRef step = encoder.Encode(views, 2).value();
  TableSignature signature;
  signature.has_signature = true;
  signature.leaves = {{"large", DType::kFloat32, false, {100'000}},
                      {"small", DType::kFloat32, false, {10}}};
  EXPECT_TRUE(CheckStep("t", signature, *step).ok());
  signature.leaves[1].dims = {11};
  EXPECT_EQ(CheckStep("t", signature, *step).code(), StatusCode::kInvalidArgument);
  signature.leaves[1] = {"small", DType::kFloat64, false, {10}};
  EXPECT_EQ(CheckStep("t", signature, *step).code(), StatusCode::kInvalidArgument);
}

TEST(StepEncoderTest, ArrayThatCannotTravelIsRefused) {
  const TestArray<float> large = Floats(100'000);
  TensorView bad = large.view();
  bad.dtype = DType::kInvalid;
  const TensorView views[] = {large.view(), bad};
  StepEncoder encoder;
  EXPECT_EQ(encoder.Encode(views, 2).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(encoder.Encode(views, 1).ok());
}

// An item whose chunks fill several messages arrives whole, over either path.
TEST(StepEncoderTest, LargeInsertsArrive) {
  const auto server = StartServer({UniformOptions("t", 1)});
  const TestArray<float> large = Floats(1'500'000);
  const TestArray<float> small = Floats(10);
  const TensorView views[] = {large.view(), small.view(), large.view(), large.view()};
  for (const Path path : {Path::kLocal, Path::kGrpc}) {
    const auto client = MakeClient(AddressOf(*server), path);
    ASSERT_TRUE(client->Insert(views, 4, {{"t", 1.0}}, Soon()).ok());
    SamplerOptions options;
    options.table = "t";
    options.max_samples = 1;
    const Sample sample = client->NewSampler(options).value()->Next(Soon()).value();
    for (int i = 0; i < 4; ++i) {
      std::vector<char> bytes(views[i].num_bytes());
      ASSERT_TRUE(sample.ReadColumn(i, bytes.data(), bytes.size()).ok());
      EXPECT_EQ(std::memcmp(bytes.data(), views[i].data, bytes.size()), 0);
    }
  }
}

}  // namespace
}  // namespace reverb_tf::client

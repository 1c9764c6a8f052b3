#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cc/client/testing/writer_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/schema.pb.h"

namespace reverb_tf::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using TrajectoryWriterTest = WriterTest;

TEST_F(TrajectoryWriterTest, ColumnsOfTheSameStepsShareAChunk) {
  Start(2, 1);
  ASSERT_TRUE(Append({1, 2, 3}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1), Rows(1, 0, 1), Rows(2, 0, 1, true)}).ok());
  ASSERT_EQ(transport_->received.size(), 1u);
  EXPECT_EQ(transport_->received[0].item.trajectory->num_chunks(), 1);
  for (int column = 0; column < 3; ++column) {
    EXPECT_THAT(Received(0, column), ElementsAre(column + 1));
  }
}

TEST_F(TrajectoryWriterTest, ColumnsOfOtherStepsDoNot) {
  Start(4, 2);
  ASSERT_TRUE(Append({1, 10}).ok());
  ASSERT_TRUE(Append({2, std::nullopt}).ok());
  ASSERT_TRUE(Append({3, 30}).ok());
  ASSERT_TRUE(Append({4, std::nullopt}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 4), Rows(1, 0, 2)}).ok());
  ASSERT_EQ(transport_->received.size(), 1u);
  const core::Trajectory& trajectory = *transport_->received[0].item.trajectory;
  ASSERT_EQ(trajectory.num_chunks(), 3);
  EXPECT_FALSE(trajectory.chunk(0)->header().sparse);
  EXPECT_TRUE(trajectory.chunk(2)->header().sparse);
  EXPECT_EQ(trajectory.chunk(2)->header().last_step, 2);
  EXPECT_THAT(Received(0, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Received(0, 1), ElementsAre(10, 30));
}

TEST_F(TrajectoryWriterTest, StridedReversedAndRepeatedRowsComeBackAsGiven) {
  Start(6, 6);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Append({i}).ok());
  const auto item = [&](std::vector<int64_t> rows) {
    ItemColumn column;
    for (int64_t row : rows) column.ranges.push_back({0, row, 1});
    ASSERT_TRUE(CreateItem({column}).ok());
    EXPECT_EQ(Received(transport_->received.size() - 1), rows);
  };
  item({0, 2});
  item({2, 0});
  item({0, 0});
  item({0, 2, 4});
  item({5, 4, 3, 3, 4, 5});
}

TEST_F(TrajectoryWriterTest, ItemsWaitForTheirChunksInOrder) {
  Start(3, 3);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  ASSERT_TRUE(Append({2}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 2)}).ok());
  EXPECT_THAT(transport_->received, IsEmpty());
  ASSERT_TRUE(Append({3}).ok());
  ASSERT_EQ(transport_->received.size(), 2u);
  EXPECT_THAT(Received(0), ElementsAre(1));
  EXPECT_THAT(Received(1), ElementsAre(1, 2));
}

TEST_F(TrajectoryWriterTest, AppendChecksEverythingBeforeItAppendsAnything) {
  Start(5, 5);
  ASSERT_TRUE(Append({1, 2, 3, 4}).ok());
  const TestArray<double> wrong_dtype(DType::kFloat64, {}, {1});
  const TestArray<int64_t> wrong_shape(DType::kInt64, {2}, {1, 2});
  const auto good = Scalar(5);
  const auto append = [&](const TensorView& last) {
    const TensorView values[] = {good->view(), good->view(), good->view(), last};
    StepRef refs[4];
    return writer_->Append(values, 4, false, refs);
  };
  EXPECT_EQ(append(wrong_dtype.view()).ToString(),
            "INVALID_ARGUMENT: Tensor of wrong dtype provided for column 3. Got double but "
            "expected int64.");
  EXPECT_EQ(append(wrong_shape.view()).ToString(),
            "INVALID_ARGUMENT: Tensor of incompatible shape provided for column 3. Got [2] which "
            "is incompatible with [].");
  EXPECT_EQ(writer_->episode_steps(), 1);
  EXPECT_EQ(Append({1, 1, 1, 1}).value()[0].row, 1);
}

TEST_F(TrajectoryWriterTest, PartialSteps) {
  Start(3, 1);
  ASSERT_TRUE(Append({1, std::nullopt}, true).ok());
  EXPECT_EQ(writer_->episode_steps(), 0);
  EXPECT_EQ(Append({2, std::nullopt}, true).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Append({2, 3}).status().code(), StatusCode::kFailedPrecondition);
  // An item may use an open step, and does not wait for its end.
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  EXPECT_EQ(transport_->received.size(), 1u);
  ASSERT_TRUE(Append({std::nullopt, 3}).ok());
  EXPECT_EQ(writer_->episode_steps(), 1);
  ASSERT_TRUE(Append({4, 5}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 2), Rows(1, 0, 2)}).ok());
  EXPECT_THAT(Received(1, 0), ElementsAre(1, 4));
  EXPECT_THAT(Received(1, 1), ElementsAre(3, 5));
}

TEST_F(TrajectoryWriterTest, EndEpisodeClosesAnOpenStep) {
  Start(3, 3);
  ASSERT_TRUE(Append({1}, true).ok());
  ASSERT_TRUE(writer_->EndEpisode(true, Soon()).ok());
  EXPECT_TRUE(Append({2}).ok());
  EXPECT_EQ(writer_->episode_steps(), 1);
}

TEST_F(TrajectoryWriterTest, ColumnsMayAppearLateAndOutOfOrder) {
  Start(2, 1);
  ASSERT_TRUE(Append({std::nullopt, std::nullopt, 1}).ok());
  ASSERT_TRUE(Append({5, std::nullopt, 2}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1), Rows(2, 0, 2)}).ok());
  EXPECT_THAT(Received(0, 0), ElementsAre(5));
  EXPECT_THAT(Received(0, 1), ElementsAre(1, 2));
  EXPECT_EQ(CreateItem({Rows(1, 0, 1)}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(TrajectoryWriterTest, RefsExpireAndCanBeReadUntilThen) {
  for (const int32_t chunk_length : {1, 2, 3}) {
    Start(3, chunk_length);
    std::vector<StepRef> refs;
    for (int i = 0; i < 5; ++i) refs.push_back(Append({i}).value()[0]);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(writer_->IsAlive(refs[i]), i >= 2);
      int64_t value = -1;
      const Status status = writer_->Read(refs[i], &value, sizeof(value));
      EXPECT_EQ(status.code(), i >= 2 ? StatusCode::kOk : StatusCode::kFailedPrecondition);
      EXPECT_EQ(value, i >= 2 ? i : -1);
    }
    EXPECT_EQ(writer_->Describe(refs[4])->dtype, DType::kInt64);
    const Status expired = CreateItem({Rows(0, 1, 2)}).status();
    EXPECT_EQ(expired.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(expired.message(), HasSubstr("expired"));
    ASSERT_TRUE(writer_->EndEpisode(false, Soon()).ok());
    EXPECT_TRUE(writer_->IsAlive(refs[4]));
    ASSERT_TRUE(writer_->EndEpisode(true, Soon()).ok());
    EXPECT_FALSE(writer_->IsAlive(refs[4]));
  }
}

TEST_F(TrajectoryWriterTest, ChunksDoNotSpanEpisodes) {
  Start(4, 4);
  ASSERT_TRUE(Append({1}).ok());
  ASSERT_TRUE(Append({2}).ok());
  ASSERT_TRUE(writer_->EndEpisode(false, Soon()).ok());
  ASSERT_TRUE(Append({3}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 3)}).ok());
  EXPECT_FALSE(writer_->Flush(0, Within(Duration::zero())).ok());
  const core::Trajectory& trajectory = *transport_->received[0].item.trajectory;
  ASSERT_EQ(trajectory.num_chunks(), 2);
  EXPECT_NE(trajectory.chunk(0)->header().episode_id, trajectory.chunk(1)->header().episode_id);
  EXPECT_EQ(trajectory.chunk(1)->header().first_step, 0);
  EXPECT_THAT(Received(0), ElementsAre(1, 2, 3));
}

TEST_F(TrajectoryWriterTest, CreateItemSaysWhatIsWrong) {
  Start(3, 1);
  ASSERT_TRUE(Append({1}).ok());
  const TestArray<double> other(DType::kFloat64, {}, {1});
  const TensorView values[] = {TensorView(), other.view()};
  StepRef refs[2];
  ASSERT_TRUE(writer_->Append(values, 2, false, refs).ok());
  const auto error = [&](const std::vector<ItemColumn>& columns, double priority = 1) {
    const Status status = CreateItem(columns, "t", priority).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(error({}), HasSubstr("at least one column"));
  EXPECT_THAT(error({Rows(0, 0, 1)}, std::numeric_limits<double>::quiet_NaN()), HasSubstr("NaN"));
  EXPECT_THAT(error({Rows(0, 0, 1), {}}), HasSubstr("column 1: it has no rows"));
  EXPECT_THAT(error({Rows(7, 0, 1)}), HasSubstr("no column 7"));
  EXPECT_THAT(error({Rows(0, 0, 2)}), HasSubstr("do not exist"));
  EXPECT_THAT(error({Rows(0, -1, 1)}), HasSubstr("do not exist"));
  EXPECT_THAT(error({{{{0, 0, 1}, {1, 0, 1}}, false}}), HasSubstr("int64 and double"));
  EXPECT_THAT(error({{{{0, 0, 1}, {0, 0, 1}}, true}}), HasSubstr("exactly one row"));
  EXPECT_THAT(transport_->received, IsEmpty());
}

TEST_F(TrajectoryWriterTest, ItemsAreCheckedAgainstTheSignature) {
  deepmind::reverb::TableInfo table;
  table.set_name("t");
  auto* const spec = (*table.mutable_signature()->mutable_dict_value()->mutable_fields())["obs"]
                         .mutable_tensor_spec_value();
  spec->set_dtype(static_cast<decltype(spec->dtype())>(DType::kInt64));
  spec->mutable_shape()->add_dim()->set_size(2);
  info_.tables.push_back(table.SerializeAsString());
  Start(3, 1, /*validate=*/true);
  ASSERT_TRUE(Append({1, 2}).ok());
  ASSERT_TRUE(Append({3, 4}).ok());
  EXPECT_TRUE(CreateItem({Rows(0, 0, 2)}).ok());
  const Status shape = CreateItem({Rows(0, 0, 1)}).status();
  EXPECT_EQ(shape.code(), StatusCode::kInvalidArgument);
  for (const char* part : {"'t'", "column 0", "'obs'", "(int64, [1])", "(int64, [2])"}) {
    EXPECT_THAT(shape.message(), HasSubstr(part));
  }
  EXPECT_THAT(CreateItem({Rows(0, 0, 2), Rows(1, 0, 2)}).status().message(),
              HasSubstr("2 columns"));
  const Status unknown = CreateItem({Rows(0, 0, 2)}, "u").status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.message(), HasSubstr("'u'"));
  EXPECT_THAT(unknown.message(), HasSubstr("'t'"));
}

TEST_F(TrajectoryWriterTest, ConfigureNeedsAnEmptyBuffer) {
  Start(4, 4);
  EXPECT_EQ(writer_->max_num_keep_alive_refs(), 4);
  ASSERT_TRUE(writer_->Configure(1, {10, 1}).ok());
  EXPECT_EQ(writer_->max_num_keep_alive_refs(), 10);
  EXPECT_EQ(writer_->Configure(0, {0, 0}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(writer_->Configure(0, {2, 3}).code(), StatusCode::kInvalidArgument);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Append({i, i}).ok());
  EXPECT_FALSE(writer_->IsAlive({0, 1}));
  EXPECT_TRUE(writer_->IsAlive({1, 0}));
  EXPECT_EQ(writer_->Configure(0, {2, 1}).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(writer_->Configure(1, {2, 1}).ok());
  EXPECT_FALSE(writer_->IsAlive({1, 0}));
}

TEST_F(TrajectoryWriterTest, RowsThatHaveExpiredStaySoWhenMoreAreKept) {
  Start(2, 1);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Append({i}).ok());
  ASSERT_TRUE(writer_->Configure(0, {10, 1}).ok());
  EXPECT_FALSE(writer_->IsAlive({0, 1}));
  for (int i = 4; i < 8; ++i) ASSERT_TRUE(Append({i}).ok());
  EXPECT_FALSE(CreateItem({Rows(0, 1, 7)}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 2, 6)}).ok());
  EXPECT_THAT(Received(0), ElementsAre(2, 3, 4, 5, 6, 7));
}

TEST_F(TrajectoryWriterTest, ItemsMayHaveRowsOfAnotherWriter) {
  for (const int32_t chunk_length : {1, 3}) {
    Start(3, chunk_length);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(Append({i}).ok());
    const auto other = std::move(writer_);
    writer_ = std::make_unique<TrajectoryWriterImpl>(
        endpoint_, TrajectoryWriterOptions{{3, chunk_length}, false}, nullptr, nullptr);
    for (int i = 10; i < 12; ++i) ASSERT_TRUE(Append({i}).ok());
    RowRange theirs = {0, 0, 2, other.get()};
    ASSERT_TRUE(CreateItem({{{theirs, {0, 1, 1}}, false}, {{theirs}, false}}).ok());
    EXPECT_FALSE(writer_->Flush(0, Within(Duration::zero())).ok());
    ASSERT_EQ(transport_->received.size(), 1u);
    EXPECT_THAT(Received(0, 0), ElementsAre(0, 1, 11));
    EXPECT_THAT(Received(0, 1), ElementsAre(0, 1));
    theirs.first = 1;
    EXPECT_THAT(CreateItem({{{theirs}, false}}).status().message(), HasSubstr("do not exist"));
  }
}

TEST_F(TrajectoryWriterTest, ColumnThatNoItemUsesIsNotCarriedAlong) {
  Start(1, 1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Append({i, i}).ok());
    ASSERT_TRUE(CreateItem({Rows(0, i, 1)}).ok());
    transport_->insert_stream().Confirm(1);
  }
  EXPECT_EQ(transport_->received.front().item.trajectory->chunk(0)->num_tensors(), 2);
  EXPECT_EQ(transport_->received.back().item.trajectory->chunk(0)->num_tensors(), 1);
}

}  // namespace
}  // namespace reverb_tf::client

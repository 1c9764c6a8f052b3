// Steps by the batch: what shares a chunk, what is refused, what waits.
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
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

// Steps of int64 values first, first + 1, ..., each of `row_dims`.
std::unique_ptr<TestArray<int64_t>> Steps(int64_t first, int64_t rows,
                                          std::vector<int64_t> row_dims = {}) {
  int64_t elements = rows;
  for (int64_t dim : row_dims) elements *= dim;
  std::vector<int64_t> values(elements);
  std::iota(values.begin(), values.end(), first);
  row_dims.insert(row_dims.begin(), rows);
  return std::make_unique<TestArray<int64_t>>(DType::kInt64, std::move(row_dims),
                                              std::move(values));
}

class TrajectoryWriterBatchTest : public WriterTest {
 protected:
  Status AppendSequence(const std::vector<TensorView>& values) {
    refs_.assign(values.size(), StepRef());
    return writer_->AppendSequence(values.data(), static_cast<int32_t>(values.size()),
                                   refs_.data());
  }
  Result<std::vector<uint64_t>> AppendBatch(const std::vector<TensorView>& values,
                                            std::vector<double> priorities,
                                            const WaitOptions& wait = Soon()) {
    refs_.assign(values.size(), StepRef());
    BatchItems items;
    items.table = "t";
    items.priorities = std::move(priorities);
    for (size_t i = 0; i < values.size(); ++i) items.columns.push_back(static_cast<int32_t>(i));
    return writer_->AppendBatch(values.data(), static_cast<int32_t>(values.size()), items,
                                refs_.data(), wait);
  }
  const core::Trajectory& Trajectory(size_t item) {
    return *transport_->received[item].item.trajectory;
  }

  std::vector<StepRef> refs_;
};

TEST_F(TrajectoryWriterBatchTest, BatchIsOneChunkHoweverFewStepsAreKept) {
  Start(1, 0);
  const auto a = Steps(0, 256), b = Steps(1000, 256, {2});
  const auto keys = AppendBatch({a->view(), b->view()}, std::vector<double>(256, 2.0));
  ASSERT_TRUE(keys.ok()) << keys.status().ToString();
  ASSERT_EQ(transport_->received.size(), 256u);
  EXPECT_EQ(transport_->num_batches, 1u);
  const core::Chunk* const chunk = Trajectory(0).chunk(0).get();
  EXPECT_EQ(chunk->header().num_rows, 256);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(Trajectory(i).chunk(0).get(), chunk);
    EXPECT_EQ(transport_->received[i].item.key, (*keys)[i]);
    EXPECT_EQ(transport_->received[i].item.priority, 2.0);
    EXPECT_THAT(Received(i, 0), ElementsAre(i));
    EXPECT_THAT(Received(i, 1), ElementsAre(1000 + 2 * i, 1001 + 2 * i));
  }
  EXPECT_EQ(writer_->episode_steps(), 256);
  EXPECT_FALSE(writer_->IsAlive({0, 254}));
  EXPECT_TRUE(writer_->IsAlive({0, 255}));
}

TEST_F(TrajectoryWriterBatchTest, ChunksOfBatchesAreBounded) {
  Start(1, 0);
  const auto a = Steps(0, 10, {1 << 12});  // 32 KiB a row
  ASSERT_TRUE(AppendBatch({a->view()}, std::vector<double>(10, 1.0)).ok());
  EXPECT_EQ(Trajectory(0).chunk(0)->header().num_rows, 2);
  Start(3, 3);
  const auto b = Steps(0, 10);
  ASSERT_TRUE(AppendBatch({b->view()}, std::vector<double>(10, 1.0)).ok());
  EXPECT_EQ(Trajectory(0).chunk(0)->header().num_rows, 3);
  EXPECT_EQ(Trajectory(9).chunk(0)->header().num_rows, 1);
}

TEST_F(TrajectoryWriterBatchTest, BatchFollowsTheItemsThatWait) {
  Start(5, 5);
  ASSERT_TRUE(Append({7}).ok());
  const uint64_t first = CreateItem({Rows(0, 0, 1)}).value();
  EXPECT_THAT(transport_->received, IsEmpty());
  const auto a = Steps(0, 2);
  ASSERT_TRUE(AppendBatch({a->view()}, {1, 2}).ok());
  ASSERT_EQ(transport_->received.size(), 3u);
  EXPECT_EQ(transport_->received[0].item.key, first);
  EXPECT_THAT(Received(2), ElementsAre(1));
  EXPECT_EQ(refs_[0].row, 1);
}

TEST_F(TrajectoryWriterBatchTest, SequenceIsLikeItsSteps) {
  Start(4, 4);
  ASSERT_TRUE(Append({0}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 1)}).ok());
  const auto a = Steps(1, 9);
  ASSERT_TRUE(AppendSequence({a->view()}).ok());
  EXPECT_EQ(writer_->episode_steps(), 10);
  EXPECT_EQ(refs_[0].row, 1);
  ASSERT_EQ(transport_->received.size(), 1u);
  EXPECT_EQ(Trajectory(0).chunk(0)->header().num_rows, 4);
  ASSERT_TRUE(CreateItem({Rows(0, 6, 4)}).ok());
  EXPECT_FALSE(writer_->Flush(0, Within(Duration::zero())).ok());
  EXPECT_THAT(Received(1), ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(Trajectory(1).chunk(0)->header().first_step, 4);
  EXPECT_EQ(Trajectory(1).chunk(1)->header().first_step, 8);
}

TEST_F(TrajectoryWriterBatchTest, SequenceThatIsKeptIsOneChunkWhenNobodySaidHowLong) {
  Start(100, 0);
  const auto a = Steps(0, 100);
  ASSERT_TRUE(AppendSequence({a->view()}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 3, 90)}).ok());
  ASSERT_EQ(Trajectory(0).num_chunks(), 1);
  EXPECT_EQ(Trajectory(0).chunk(0)->header().num_rows, 100);
}

TEST_F(TrajectoryWriterBatchTest, NothingIsAppendedOnError) {
  Start(5, 1);
  const auto good = Steps(0, 3), short_one = Steps(0, 2), scalar = Scalar(1),
             wide = Steps(0, 3, {2});
  const TestArray<double> other(DType::kFloat64, {3}, {1, 2, 3});
  ASSERT_TRUE(Append({5, 5}).ok());
  const auto refused = [&](const TensorView& last, const char* text) {
    const Status status = AppendSequence({good->view(), last});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
    EXPECT_EQ(AppendBatch({good->view(), last}, {1, 1, 1}).status().message(), status.message());
  };
  refused(short_one->view(), "has 2 rows");
  refused(scalar->view(), "for column 1 is a scalar");
  refused(wide->view(), "for column 1. Got [2] which is incompatible with [].");
  refused(other.view(), "for column 1. Got double but expected int64.");
  EXPECT_EQ(AppendSequence({}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(AppendSequence({TensorView()}).code(), StatusCode::kInvalidArgument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(AppendBatch({good->view()}, {1, nan, 1}).status().message(), HasSubstr("Priority 1"));
  EXPECT_THAT(AppendBatch({good->view()}, {1, 1}).status().message(),
              HasSubstr("2 priorities for 3 steps"));
  EXPECT_EQ(writer_->episode_steps(), 1);
  ASSERT_TRUE(Append({6, std::nullopt}, /*partial=*/true).ok());
  EXPECT_EQ(AppendSequence({good->view()}).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Append({std::nullopt, 6}).ok());
  ASSERT_TRUE(CreateItem({Rows(0, 0, 2), Rows(1, 0, 2)}).ok());
  EXPECT_THAT(Received(0, 0), ElementsAre(5, 6));
  EXPECT_THAT(transport_->received, testing::SizeIs(1));
}

TEST_F(TrajectoryWriterBatchTest, EmptyBatchIsNothing) {
  Start(1, 0);
  const auto none = Steps(0, 0);
  EXPECT_THAT(AppendBatch({none->view()}, {}).value(), IsEmpty());
  EXPECT_TRUE(AppendSequence({none->view()}).ok());
  EXPECT_EQ(writer_->episode_steps(), 0);
  EXPECT_EQ(Append({1}).value()[0].row, 0);
}

TEST_F(TrajectoryWriterBatchTest, ItemsFitSignaturesOfStepsAndOfSequences) {
  for (const bool of_step : {true, false}) {
    deepmind::reverb::TableInfo table;
    table.set_name("t");
    auto* const spec = (*table.mutable_signature()->mutable_dict_value()->mutable_fields())["obs"]
                           .mutable_tensor_spec_value();
    spec->set_dtype(static_cast<decltype(spec->dtype())>(DType::kInt64));
    if (!of_step) spec->mutable_shape()->add_dim()->set_size(1);
    spec->mutable_shape()->add_dim()->set_size(2);
    info_.tables = {table.SerializeAsString()};
    Start(1, 0, /*validate=*/true);
    const auto good = Steps(0, 3, {2}), bad = Steps(0, 3, {3});
    const Status status = AppendBatch({bad->view()}, {1, 1, 1}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("'obs'"));
    ASSERT_TRUE(AppendBatch({good->view()}, {1, 1, 1}).ok());
    EXPECT_EQ(Trajectory(0).column(0).squeeze, of_step);
  }
}

TEST_F(TrajectoryWriterBatchTest, BatchWaitsForRoomBeforeAnythingIsAppended) {
  Start(1, 0);
  const auto a = Steps(0, InsertSession::kMaxUnconfirmedItems);
  ASSERT_TRUE(AppendBatch({a->view()}, std::vector<double>(a->view().dims[0], 1.0)).ok());
  const auto b = Steps(0, 2);
  EXPECT_EQ(AppendBatch({b->view()}, {1, 1}, Within(Duration::zero())).status().code(),
            StatusCode::kDeadlineExceeded);
  EXPECT_EQ(writer_->episode_steps(), a->view().dims[0]);
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(AppendBatch({b->view()}, {1, 1}, Within(Duration::zero())).ok());
}

}  // namespace
}  // namespace reverb_tf::client

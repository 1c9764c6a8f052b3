#include "cc/client/writer_impl.h"

#include <chrono>
#include <cstdint>
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

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Ints = TestArray<int64_t>;

class WriterImplTest : public WriterTest {
 protected:
  void Open(int32_t chunk_length, int32_t max_timesteps, int64_t in_flight = 25, bool delta = false,
            bool validate = false) {
    Start(1, 1, validate);
    step_writer_ = std::make_unique<WriterImpl>(
        endpoint_, WriterOptions{chunk_length, max_timesteps, delta, in_flight},
        validate ? std::make_shared<SignatureCache>(endpoint_) : nullptr,
        validate ? ParseSignatures(info_).value() : nullptr);
  }
  static WaitOptions Now() { return Within(Duration::zero()); }

  // Each value is an array of the step.
  Status Step(const std::vector<int64_t>& values, const WaitOptions& wait = Now()) {
    std::vector<std::unique_ptr<Ints>> arrays;
    std::vector<TensorView> views;
    for (int64_t value : values) {
      arrays.push_back(Scalar(value));
      views.push_back(arrays.back()->view());
    }
    return StepOf(views, wait);
  }
  Status StepOf(const std::vector<TensorView>& views, const WaitOptions& wait = Now()) {
    return step_writer_->Append(views.data(), static_cast<int32_t>(views.size()), wait);
  }
  Result<uint64_t> Item(int64_t steps, const WaitOptions& wait = Now(),
                        const std::string& table = "t", double priority = 1) {
    return step_writer_->CreateItem(table, steps, priority, wait);
  }
  void ExpectRefused(const Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  std::unique_ptr<WriterImpl> step_writer_;
};

TEST_F(WriterImplTest, OptionsAreChecked) {
  EXPECT_TRUE(CheckWriterOptions({1, 1, false, 1}).ok());
  ExpectRefused(CheckWriterOptions({1, 0, false, 1}), "max_timesteps");
  ExpectRefused(CheckWriterOptions({0, 1, false, 1}), "chunk_length");
  ExpectRefused(CheckWriterOptions({3, 2, false, 1}), "chunk_length");
  ExpectRefused(CheckWriterOptions({1, 1, false, 0}), "max_in_flight_items");
}

TEST_F(WriterImplTest, ItemsHaveTheNewestSteps) {
  Open(3, 5);
  std::vector<uint64_t> keys;
  for (int64_t i = 0; i < 9; ++i) {
    ASSERT_TRUE(Step({i, 10 * i}).ok());
    keys.push_back(Item(std::min<int64_t>(i + 1, 5)).value());
  }
  ASSERT_THAT(transport_->received, SizeIs(9));
  for (int64_t i = 0; i < 9; ++i) {
    std::vector<int64_t> expected, tens;
    for (int64_t step = std::max<int64_t>(i - 4, 0); step <= i; ++step) {
      expected.push_back(step);
      tens.push_back(10 * step);
    }
    EXPECT_EQ(transport_->received[i].item.key, keys[i]);
    EXPECT_EQ(Received(i, 0), expected);
    EXPECT_EQ(Received(i, 1), tens);
  }
  const core::Trajectory& last = *transport_->received[8].item.trajectory;
  EXPECT_EQ(last.num_chunks(), 2);
  EXPECT_EQ(last.chunk(1)->num_tensors(), 2);
  EXPECT_EQ(last.chunk(0)->header().episode_id, last.chunk(1)->header().episode_id);
  EXPECT_EQ(last.chunk(1)->header().first_step, 6);
}

TEST_F(WriterImplTest, ItemsGoOutWhenTheirChunkIsCompleteOrNoStepWaits) {
  Open(2, 4);
  ASSERT_TRUE(Step({1}).ok());
  ASSERT_TRUE(Item(1).ok());
  EXPECT_THAT(transport_->received, IsEmpty());
  ASSERT_TRUE(Step({2}).ok());
  EXPECT_THAT(transport_->received, SizeIs(1));
  ASSERT_TRUE(Item(2).ok());
  EXPECT_THAT(transport_->received, SizeIs(2));
}

TEST_F(WriterImplTest, FlushCutsTheChunkShortAndWaits) {
  Open(4, 4);
  ASSERT_TRUE(Step({1}).ok());
  EXPECT_TRUE(step_writer_->Flush(Now()).ok()) << "no item waits";
  ASSERT_TRUE(Item(1).ok());
  EXPECT_EQ(step_writer_->Flush(Now()).code(), StatusCode::kDeadlineExceeded);
  ASSERT_THAT(transport_->received, SizeIs(1));
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(step_writer_->Flush(Now()).ok());
  for (int64_t i = 2; i <= 4; ++i) ASSERT_TRUE(Step({i}).ok());
  ASSERT_TRUE(Item(4).ok());
  EXPECT_FALSE(step_writer_->Flush(Now()).ok());
  EXPECT_THAT(Received(1), ElementsAre(1, 2, 3, 4));
}

TEST_F(WriterImplTest, CallsThatSendWaitWhileTooManyAreUnconfirmed) {
  Open(1, 1, /*in_flight=*/2);
  ASSERT_TRUE(Step({1}).ok());
  ASSERT_TRUE(Item(1).ok());
  ASSERT_TRUE(Item(1).ok());
  EXPECT_EQ(Item(1).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(transport_->received, SizeIs(2));
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(Item(1).ok());
  EXPECT_THAT(transport_->received, SizeIs(3));
}

TEST_F(WriterImplTest, AppendThatCannotSendAppendsNothing) {
  Open(2, 2, /*in_flight=*/2);
  for (int64_t i = 0; i < 2; ++i) ASSERT_TRUE(Step({i}).ok());
  ASSERT_TRUE(Item(1).ok());
  ASSERT_TRUE(Step({2}).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Item(1).ok());
  EXPECT_EQ(Step({3}).code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(transport_->received, SizeIs(1));
  const Ints sequence(DType::kInt64, {2}, {3, 4});
  EXPECT_EQ(step_writer_->AppendSequence(&sequence.view(), 1, Now()).code(),
            StatusCode::kDeadlineExceeded);
  transport_->insert_stream().Confirm(1);
  ASSERT_TRUE(Step({5}).ok());
  ASSERT_THAT(transport_->received, SizeIs(3)) << "all that wait for one chunk";
  transport_->insert_stream().Confirm(2);
  ASSERT_TRUE(Item(2).ok());
  EXPECT_THAT(Received(3), ElementsAre(2, 5));
}

TEST_F(WriterImplTest, DTypesAndShapesMayChangeBetweenChunksOnly) {
  Open(2, 6);
  const TestArray<double> other(DType::kFloat64, {}, {1.5});
  const Ints wide(DType::kInt64, {2}, {7, 8});
  ASSERT_TRUE(Step({1}).ok());
  ExpectRefused(StepOf({other.view()}), "(double, [])");
  ExpectRefused(StepOf({wide.view()}), "(int64, [2])");
  ExpectRefused(Step({1, 2}), "2 arrays");
  ASSERT_TRUE(Step({2}).ok());  // what was refused is not in the chunk
  ASSERT_TRUE(Item(2).ok());
  ASSERT_TRUE(StepOf({wide.view()}).ok());
  ASSERT_TRUE(Item(1).ok());
  ExpectRefused(Item(2).status(), "have changed");
  ASSERT_TRUE(StepOf({wide.view()}).ok());
  ExpectRefused(Item(3).status(), "have changed");
  ASSERT_TRUE(Item(2).ok());
  ASSERT_TRUE(StepOf({other.view()}).ok());
  ASSERT_TRUE(StepOf({other.view()}).ok());
  ASSERT_TRUE(Step({3}).ok());
  ExpectRefused(Item(5).status(), "have changed");
  EXPECT_THAT(Received(0), ElementsAre(1, 2));
  EXPECT_THAT(Received(1), ElementsAre(7, 8));
  EXPECT_THAT(Received(2), ElementsAre(7, 8, 7, 8));
}

TEST_F(WriterImplTest, SequencesAreTheirSteps) {
  Open(3, 10);
  ASSERT_TRUE(Step({0, 100}).ok());
  const Ints a(DType::kInt64, {4}, {1, 2, 3, 4}), b(DType::kInt64, {4}, {101, 102, 103, 104});
  const Ints short_one(DType::kInt64, {2}, {5, 6}), wide(DType::kInt64, {4, 1}, {1, 2, 3, 4});
  const auto append = [&](const TensorView& second) {
    const TensorView views[] = {a.view(), second};
    return step_writer_->AppendSequence(views, 2, Now());
  };
  ExpectRefused(append(short_one.view()), "[2]");
  ExpectRefused(append(Scalar(1)->view()), "scalar");
  ExpectRefused(append(wide.view()), "(int64, [1])");
  ExpectRefused(step_writer_->AppendSequence(nullptr, 0, Now()), "no arrays");
  ASSERT_TRUE(append(b.view()).ok());
  ASSERT_TRUE(Item(5).ok());
  EXPECT_FALSE(step_writer_->Flush(Now()).ok());
  EXPECT_THAT(Received(0, 0), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Received(0, 1), ElementsAre(100, 101, 102, 103, 104));
  EXPECT_EQ(transport_->received[0].item.trajectory->chunk(0)->header().num_rows, 3);
}

TEST_F(WriterImplTest, DeltaEncodedColumnsComeBackEqual) {
  Open(3, 3, 25, /*delta=*/true);
  for (int64_t i = 0; i < 3; ++i) {
    const Ints values(DType::kInt64, {2}, {i * i, std::numeric_limits<int64_t>::min() + i});
    const auto scalar = Scalar(-i);
    ASSERT_TRUE(StepOf({values.view(), scalar->view()}).ok());
  }
  ASSERT_TRUE(Item(2).ok());
  EXPECT_TRUE(transport_->received[0].item.trajectory->chunk(0)->header().delta_encoded);
  const int64_t low = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(Received(0, 0), ElementsAre(1, low + 1, 4, low + 2));
  EXPECT_THAT(Received(0, 1), ElementsAre(-1, -2));
}

TEST_F(WriterImplTest, CreateItemSaysWhatIsWrong) {
  Open(2, 3);
  ExpectRefused(Item(1).status(), "only 0 were appended");
  for (int64_t i = 0; i < 5; ++i) ASSERT_TRUE(Step({i}).ok());
  ExpectRefused(Item(0).status(), "at least one");
  ExpectRefused(Item(4).status(), "newest 3");
  ExpectRefused(Item(1, Now(), "t", std::numeric_limits<double>::quiet_NaN()).status(), "NaN");
  EXPECT_TRUE(Item(3).ok());
}

TEST_F(WriterImplTest, SignaturesOfStepsAndOfSequencesFit) {
  const auto table = [](const std::string& name, const std::vector<int64_t>& dims) {
    deepmind::reverb::TableInfo info;
    info.set_name(name);
    auto* const spec = info.mutable_signature()->mutable_tensor_spec_value();
    spec->set_dtype(static_cast<decltype(spec->dtype())>(DType::kInt64));
    for (int64_t dim : dims) spec->mutable_shape()->add_dim()->set_size(dim);
    return info.SerializeAsString();
  };
  info_.tables = {table("step", {2}), table("sequence", {3, 2}), table("any", {-1, 2})};
  Open(1, 4, 25, false, /*validate=*/true);
  const Ints value(DType::kInt64, {2}, {1, 2});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(StepOf({value.view()}).ok());
  EXPECT_TRUE(Item(2, Now(), "step").ok());
  EXPECT_TRUE(Item(3, Now(), "sequence").ok());
  EXPECT_TRUE(Item(4, Now(), "any").ok());
  ExpectRefused(Item(2, Now(), "sequence").status(), "(int64, [2,2])");
  ExpectRefused(Item(2, Now(), "nowhere").status(), "'nowhere'");
}

TEST_F(WriterImplTest, CloseIsABarrier) {
  Open(4, 4);
  ASSERT_TRUE(Step({1}).ok());
  ASSERT_TRUE(Item(1).ok());
  const Status status = step_writer_->Close(true, Now());
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("1 items were not confirmed"));
  EXPECT_THAT(transport_->received, SizeIs(1));
  EXPECT_FALSE(transport_->insert_stream().open());
  EXPECT_EQ(Step({2}).code(), StatusCode::kCancelled);
  EXPECT_EQ(Item(1).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(step_writer_->Flush(Now()).code(), StatusCode::kCancelled);
  EXPECT_EQ(step_writer_->Close(true, Now()).code(), StatusCode::kCancelled);
}

TEST_F(WriterImplTest, CloseOfAWriterWithoutItemsNeedsNoServer) {
  Open(4, 4);
  ASSERT_TRUE(Step({1}).ok());
  EXPECT_TRUE(step_writer_->Close(true, Now()).ok());
  EXPECT_THAT(transport_->insert_streams, IsEmpty());
}

TEST_F(WriterImplTest, CloseWithoutRetriesGivesUpAtOnce) {
  Open(1, 1);
  ASSERT_TRUE(Step({1}).ok());
  ASSERT_TRUE(Item(1).ok());
  transport_->insert_stream().Close(UnavailableError("gone"));
  const Status status = step_writer_->Close(false, Soon());
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  for (const char* part : {"1 items", "fake:1", "gone"}) {
    EXPECT_THAT(status.message(), HasSubstr(part));
  }
  EXPECT_THAT(status.message(), testing::Not(HasSubstr("tried again")));
}

TEST_F(WriterImplTest, LostConnectionIsTriedAgainWithTheSameKeys) {
  Open(2, 2);
  ASSERT_TRUE(Step({1}).ok());
  ASSERT_TRUE(Step({2}).ok());
  const uint64_t key = Item(2).value();
  transport_->insert_stream().Close(UnavailableError("gone"));
  clock_.Advance(seconds(1));
  ASSERT_THAT(transport_->received, SizeIs(2));
  EXPECT_EQ(transport_->received[1].item.key, key);
  transport_->insert_stream().Confirm(1);
  EXPECT_TRUE(step_writer_->Close(true, Now()).ok());
}

TEST_F(WriterImplTest, FailureIsFinal) {
  Open(1, 1);
  ASSERT_TRUE(Step({1}).ok());
  ASSERT_TRUE(Item(1).ok());
  transport_->insert_stream().Close(NotFoundError("no such table"));
  EXPECT_EQ(Step({1}).code(), StatusCode::kNotFound);
  EXPECT_EQ(step_writer_->Close(true, Now()).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace reverb_tf::client

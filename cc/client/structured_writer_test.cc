// The structured writer over a server that is in the test.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cc/client/log.h"
#include "cc/client/structured_writer_impl.h"
#include "cc/client/testing/structured_config.h"
#include "cc/client/testing/writer_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::client {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StructuredWriterTest : public WriterTest {
 protected:
  void StartStructured(const std::vector<std::string>& configs, int32_t chunk_length = 0) {
    auto parsed = ParsedConfigs(configs);
    int32_t history = 1;
    for (const PatternConfig& config : parsed) history = std::max(history, config.history);
    Start(history, chunk_length);
    structured_ =
        std::make_unique<StructuredWriterImpl>(std::move(parsed), std::move(writer_), &clock_);
  }

  Status AppendStep(const std::vector<std::optional<int64_t>>& values, bool partial = false,
                    const WaitOptions& wait = Soon()) {
    std::vector<std::unique_ptr<TestArray<int64_t>>> arrays;
    std::vector<TensorView> views;
    for (const auto& value : values) {
      arrays.push_back(Scalar(value.value_or(0)));
      views.push_back(value ? arrays.back()->view() : TensorView());
    }
    return structured_->Append(views.data(), static_cast<int32_t>(views.size()), partial, wait);
  }

  void ConfirmAll() {
    if (!transport_->insert_streams.empty()) transport_->insert_stream().Confirm(1 << 20);
  }

  // Sends what is complete without waiting.
  void Push() {
    structured_->Flush(0, Within(Duration::zero())).IgnoreError();
    ConfirmAll();
  }

  // Destroys the writer while the clock runs; what it logs.
  std::vector<std::string> Destroy() {
    std::vector<std::string> lines;
    SetLogSink([&](const std::string& line) { lines.push_back(line); });
    std::atomic<bool> ended{false};
    std::thread thread([&] {
      structured_.reset();
      ended = true;
    });
    while (!ended) {
      clock_.Advance(std::chrono::milliseconds(100));
      std::this_thread::yield();
    }
    thread.join();
    SetLogSink(nullptr);
    return lines;
  }

  std::unique_ptr<StructuredWriterImpl> structured_;
};

TEST_F(StructuredWriterTest, StridedPatternsAreRightWhateverTheChunks) {
  for (int32_t chunk_length : {0, 1, 2, 5, 6}) {
    StartStructured({ConstantConfig(Node(0, -6, 0, 2) + Node(0, -4, -1))}, chunk_length);
    for (int64_t i = 0; i < 200; ++i) {
      ASSERT_TRUE(AppendStep({i}).ok());
      if (i % 10 == 0) Push();
    }
    Push();
    ASSERT_EQ(transport_->received.size(), 195u);
    for (int64_t i = 0; i < 195; ++i) {
      EXPECT_THAT(Received(i, 0), ElementsAre(i, i + 2, i + 4));
      EXPECT_THAT(Received(i, 1), ElementsAre(i + 2, i + 3, i + 4));
    }
  }
}

TEST_F(StructuredWriterTest, UnusedColumnsAreNotSent) {
  StartStructured({ConstantConfig(Node(1, 0, -1))});
  ASSERT_TRUE(AppendStep({1, 2, 3}).ok());
  Push();
  ASSERT_EQ(transport_->received.size(), 1u);
  const core::Trajectory& trajectory = *transport_->received[0].item.trajectory;
  EXPECT_EQ(trajectory.num_chunks(), 1);
  EXPECT_EQ(trajectory.chunk(0)->num_tensors(), 1);
  EXPECT_THAT(Received(0), ElementsAre(2));
}

TEST_F(StructuredWriterTest, ErrorsNameTheColumnOfTheStep) {
  StartStructured({ConstantConfig(Node(2, -1))});
  ASSERT_TRUE(AppendStep({1, 2, 3}).ok());
  const TestArray<double> other(DType::kFloat64, {}, {1});
  const TensorView views[] = {TensorView(), TensorView(), other.view()};
  const Status status = structured_->Append(views, 3, false, Soon());
  EXPECT_EQ(status.message(),
            "Tensor of wrong dtype provided for column 2. Got double but expected int64.");
  ASSERT_TRUE(AppendStep({1, 2, 4}).ok());
  Push();
  ASSERT_EQ(transport_->received.size(), 2u);
  EXPECT_THAT(Received(1), ElementsAre(4));
}

TEST_F(StructuredWriterTest, PartialStepsMakeItemsAtOnce) {
  StartStructured({ConstantConfig(Node(0, -2)), ConstantConfig(Node(1, -2) + Node(0, 0, -1))}, 1);
  ASSERT_TRUE(AppendStep({10, 20}).ok());
  EXPECT_FALSE(structured_->step_is_open());
  ASSERT_TRUE(AppendStep({11, std::nullopt}, true).ok());
  EXPECT_TRUE(structured_->step_is_open());
  ASSERT_EQ(transport_->received.size(), 1u);
  EXPECT_THAT(Received(0), ElementsAre(10, 11));
  ASSERT_TRUE(AppendStep({std::nullopt, 21}, true).ok());
  ASSERT_EQ(transport_->received.size(), 2u);
  EXPECT_THAT(Received(1, 0), ElementsAre(20, 21));
  EXPECT_THAT(Received(1, 1), ElementsAre(11));
  EXPECT_EQ(AppendStep({12, std::nullopt}).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(AppendStep({std::nullopt, std::nullopt}).ok());
  EXPECT_FALSE(structured_->step_is_open());
  ConfirmAll();
}

TEST_F(StructuredWriterTest, AnEndOfEpisodeThatTimesOutMakesNoItemTwice) {
  StartStructured({ConstantConfig(Node(0, -2), "conditions { is_end_episode: true eq: 1 }")});
  ASSERT_TRUE(AppendStep({1}).ok());
  ASSERT_TRUE(AppendStep({2}).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(structured_->EndEpisode(true, Within(Duration::zero())).code(),
              StatusCode::kDeadlineExceeded);
  }
  EXPECT_EQ(transport_->received.size(), 1u);
  ConfirmAll();
  EXPECT_TRUE(structured_->EndEpisode(true, Soon()).ok());
  EXPECT_TRUE(structured_->EndEpisode(true, Soon()).ok());
  EXPECT_EQ(transport_->received.size(), 1u);
  ASSERT_TRUE(AppendStep({3}).ok());
  EXPECT_TRUE(structured_->EndEpisode(true, Soon()).ok()) << "one step is too short";
  EXPECT_EQ(transport_->received.size(), 1u);
}

TEST_F(StructuredWriterTest, EpisodesAreJoinedIfBuffersAreKept) {
  StartStructured({ConstantConfig(Node(0, -3, 0, 2))});
  ASSERT_TRUE(AppendStep({1}).ok());
  ASSERT_TRUE(AppendStep({2}).ok());
  ASSERT_TRUE(structured_->EndEpisode(false, Soon()).ok());
  ASSERT_TRUE(AppendStep({3}).ok());
  Push();
  ASSERT_EQ(transport_->received.size(), 1u);
  EXPECT_THAT(Received(0), ElementsAre(1, 3));
}

TEST_F(StructuredWriterTest, ItemsThatBackPressureHeldBackAreMadeByTheNextCall) {
  StartStructured({ConstantConfig(Node(0, 0, -1)), ConstantConfig(Node(0, -1))}, 1);
  const WaitOptions now = Within(Duration::zero());
  int64_t steps = 0;
  Status status;
  while (status.ok() && steps < InsertSession::kMaxUnconfirmedItems) {
    status = AppendStep({steps++}, false, now);
  }
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(AppendStep({-1}, false, now).code(), StatusCode::kDeadlineExceeded)
      << "refused before anything is appended";
  ConfirmAll();
  ASSERT_TRUE(AppendStep({steps++}).ok());
  Push();
  ASSERT_EQ(transport_->received.size(), 2 * steps);
  for (int64_t i = 0; i < 2 * steps; ++i) EXPECT_THAT(Received(i), ElementsAre(i / 2));
}

TEST_F(StructuredWriterTest, TheDestructorFlushes) {
  StartStructured({ConstantConfig(Node(0, -1))}, 1);
  ASSERT_TRUE(AppendStep({1}).ok());
  ConfirmAll();
  EXPECT_THAT(Destroy(), IsEmpty());
}

TEST_F(StructuredWriterTest, TheDestructorGivesUpAndSaysWhatIsLost) {
  StartStructured({ConstantConfig(Node(0, -1))});
  ASSERT_TRUE(AppendStep({1}).ok());
  const core::TimePoint start = clock_.Now();
  const std::vector<std::string> lines = Destroy();
  EXPECT_GE(clock_.Now() - start, StructuredWriterImpl::kLastFlush);
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("lost"), HasSubstr("fake:1"))));
}

TEST_F(StructuredWriterTest, ErrorsOfTheStreamComeWithLaterCalls) {
  StartStructured({ConstantConfig(Node(0, -1))}, 1);
  ASSERT_TRUE(AppendStep({1}).ok());
  transport_->insert_stream().Close(NotFoundError("Priority table t was not found"));
  EXPECT_EQ(AppendStep({2}).code(), StatusCode::kNotFound);
  EXPECT_EQ(structured_->Flush(0, Soon()).code(), StatusCode::kNotFound);
  EXPECT_EQ(structured_->EndEpisode(true, Soon()).code(), StatusCode::kNotFound);
  EXPECT_EQ(Destroy().size(), 1u);
}

}  // namespace
}  // namespace reverb_tf::client

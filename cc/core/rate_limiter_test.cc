#include "cc/core/rate_limiter.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reverb_tf::core {
namespace {

using ::testing::HasSubstr;

constexpr double kMax = std::numeric_limits<double>::max();

void Insert(RateLimiter* limiter, int n) {
  for (int i = 0; i < n; ++i) limiter->DidInsert();
}
void Sample(RateLimiter* limiter, int n) {
  for (int i = 0; i < n; ++i) limiter->DidSample();
}
void Delete(RateLimiter* limiter, int n) {
  for (int i = 0; i < n; ++i) limiter->DidDelete();
}

TEST(RateLimiterTest, CheckNamesOptionAndValue) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(RateLimiter::Check({1, 1, -kMax, kMax}).ok());
  EXPECT_TRUE(RateLimiter::Check({1, 1, -infinity, infinity}).ok());
  for (double bad : {0.0, -1.0, nan, infinity}) {
    const Status status = RateLimiter::Check({bad, 1, 0, 1});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("samples_per_insert is"));
  }
  EXPECT_THAT(RateLimiter::Check({1, 0, 0, 1}).message(), HasSubstr("min_size_to_sample is 0"));
  EXPECT_THAT(RateLimiter::Check({1, 1, nan, 1}).message(), HasSubstr("min_diff is nan"));
  EXPECT_THAT(RateLimiter::Check({1, 1, 0, nan}).message(), HasSubstr("max_diff is nan"));
  EXPECT_THAT(RateLimiter::Check({1, 1, 3, 2.5}).message(),
              HasSubstr("min_diff is 3; expected at most max_diff, which is 2.5"));
}

TEST(RateLimiterTest, MinSize) {
  RateLimiter limiter({1, 3, -kMax, kMax});
  EXPECT_TRUE(limiter.CanInsert(1000000));
  Insert(&limiter, 2);
  EXPECT_FALSE(limiter.CanSample(1));
  EXPECT_THAT(limiter.ExplainSample(), HasSubstr("holds 2 of the 3"));
  Insert(&limiter, 1);
  EXPECT_TRUE(limiter.CanSample(std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(limiter.ExplainSample(), HasSubstr("May sample any number of items"));
  Delete(&limiter, 1);
  EXPECT_FALSE(limiter.CanSample(1));
}

TEST(RateLimiterTest, Queue) {
  RateLimiter limiter({1, 1, 0, 2});
  EXPECT_FALSE(limiter.CanSample(1));
  EXPECT_TRUE(limiter.CanInsert(2));
  EXPECT_FALSE(limiter.CanInsert(3));
  Insert(&limiter, 2);
  EXPECT_FALSE(limiter.CanInsert(1));
  EXPECT_TRUE(limiter.CanSample(2));
  EXPECT_FALSE(limiter.CanSample(3));
  Sample(&limiter, 1);
  Delete(&limiter, 1);
  EXPECT_TRUE(limiter.CanInsert(1));
  EXPECT_FALSE(limiter.CanInsert(2));
}

TEST(RateLimiterTest, DeletesCountForTheSizeOnly) {
  RateLimiter limiter({1, 1, 0, 2});
  Insert(&limiter, 2);
  Delete(&limiter, 2);
  EXPECT_TRUE(limiter.CanInsert(1));  // the table is empty
  Insert(&limiter, 1);
  EXPECT_FALSE(limiter.CanInsert(1));
}

// SampleToInsertRatio(2.0, 2, 2.0), as it was observed.
TEST(RateLimiterTest, SampleToInsertRatio) {
  RateLimiter limiter({2, 2, 2, 6});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(limiter.CanInsert(1));
    Insert(&limiter, 1);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(limiter.CanInsert(1));
    Sample(&limiter, 1);
    EXPECT_FALSE(limiter.CanInsert(1));
    Sample(&limiter, 1);
    EXPECT_TRUE(limiter.CanInsert(1));
    Insert(&limiter, 1);
  }
}

TEST(RateLimiterTest, HugeNumbersDoNotOverflow) {
  RateLimiter limiter({1, std::numeric_limits<int64_t>::max(), -kMax, 5});
  EXPECT_TRUE(limiter.CanInsert(std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(limiter.CanSample(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(limiter.NumInsertsAllowed(), RateLimiter::kNoLimit);
  EXPECT_EQ(limiter.NumSamplesAllowed(), 0);
  RateLimiter queue({1, 1, 0, 2});
  EXPECT_FALSE(queue.CanInsert(std::numeric_limits<int64_t>::max()));
  RateLimiter unlimited({1, 1, -kMax, kMax});
  Insert(&unlimited, 1);
  EXPECT_EQ(unlimited.NumInsertsAllowed(), RateLimiter::kNoLimit);
  EXPECT_EQ(unlimited.NumSamplesAllowed(), RateLimiter::kNoLimit);
}

TEST(RateLimiterTest, ExplanationsHaveTheNumbers) {
  RateLimiter limiter({1.5, 1, 0, 4});
  Insert(&limiter, 2);
  Sample(&limiter, 1);
  EXPECT_EQ(limiter.ExplainSample(),
            "May sample 2 items before the next insert (inserts * samples_per_insert - samples = 2 "
            "* 1.5 - 1 = 2).");
  EXPECT_EQ(limiter.ExplainInsert(),
            "May insert 1 item before the next sample (inserts * samples_per_insert - samples = 2 "
            "* 1.5 - 1 = 2).");
  Insert(&limiter, 1);
  EXPECT_THAT(limiter.ExplainInsert(), HasSubstr("above max_diff, 4."));
  Sample(&limiter, 3);
  EXPECT_THAT(limiter.ExplainSample(), HasSubstr("below min_diff, 0."));
}

// The explanation counts as CanSample and CanInsert do.
TEST(RateLimiterTest, ExplanationsAgreeWithTheRule) {
  for (const RateLimiterOptions& options :
       {RateLimiterOptions{1, 1, 0, 3}, RateLimiterOptions{2.5, 3, -2, 8},
        RateLimiterOptions{0.3, 2, 0.5, 2}}) {
    for (int inserts = 0; inserts < 12; ++inserts) {
      for (int samples = 0; samples < 20; ++samples) {
        RateLimiter limiter(options);
        Insert(&limiter, inserts);
        Sample(&limiter, samples);
        int can_sample = 0;
        while (limiter.CanSample(can_sample + 1)) ++can_sample;
        int can_insert = 0;
        while (limiter.CanInsert(can_insert + 1)) ++can_insert;
        EXPECT_EQ(limiter.NumSamplesAllowed(), can_sample);
        EXPECT_EQ(limiter.NumInsertsAllowed(), can_insert);
        EXPECT_THAT(limiter.ExplainSample(),
                    can_sample == 0
                        ? HasSubstr("Sampling waits")
                        : HasSubstr("May sample " + std::to_string(can_sample) + " item"));
        EXPECT_THAT(limiter.ExplainInsert(),
                    can_insert == 0
                        ? HasSubstr("Inserting waits")
                        : HasSubstr("May insert " + std::to_string(can_insert) + " item"));
      }
    }
  }
}

TEST(RateLimiterTest, Reset) {
  RateLimiter limiter({1, 1, 0, 2});
  Insert(&limiter, 2);
  Sample(&limiter, 1);
  Delete(&limiter, 1);
  limiter.Reset();
  EXPECT_EQ(limiter.inserts() + limiter.samples() + limiter.deletes(), 0);
  EXPECT_TRUE(limiter.CanInsert(2));
}

}  // namespace
}  // namespace reverb_tf::core

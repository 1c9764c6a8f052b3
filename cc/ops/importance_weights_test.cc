#include "cc/ops/importance_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace reverb_tf::ops {
namespace {

using ::testing::HasSubstr;

SampleInfo Info(double probability, int64_t table_size) {
  SampleInfo info;
  info.key = 7;
  info.probability = probability;
  info.table_size = table_size;
  return info;
}

std::vector<float> Weights(const std::vector<SampleInfo>& infos, double beta, double smallest = 0) {
  std::vector<float> weights(infos.size());
  EXPECT_TRUE(ImportanceWeights(infos, beta, smallest, weights.data()).ok());
  return weights;
}

TEST(ImportanceWeightsTest, TheRarestOfTheBatchHasOne) {
  const std::vector<float> weights = Weights({Info(0.5, 10), Info(0.1, 10), Info(0.2, 20)}, 0.5);
  EXPECT_FLOAT_EQ(weights[0], std::pow(1.0 / 5.0, 0.5));
  EXPECT_FLOAT_EQ(weights[1], 1);
  EXPECT_FLOAT_EQ(weights[2], std::pow(1.0 / 4.0, 0.5));
}

TEST(ImportanceWeightsTest, TheSmallestOfTheTableCounts) {
  const std::vector<float> weights = Weights({Info(0.5, 10), Info(0.1, 10)}, 1, 0.25);
  EXPECT_FLOAT_EQ(weights[0], 0.05f);
  EXPECT_FLOAT_EQ(weights[1], 0.25f);
}

TEST(ImportanceWeightsTest, NoWeightIsAboveOne) {
  EXPECT_FLOAT_EQ(Weights({Info(0.1, 10)}, 1, 5)[0], 1);
}

TEST(ImportanceWeightsTest, ExponentZeroMeansOne) {
  EXPECT_FLOAT_EQ(Weights({Info(0.5, 10), Info(1e-300, 10)}, 0)[0], 1);
}

TEST(ImportanceWeightsTest, BadExponentsAreNamed) {
  for (const double beta : {-0.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
    float weight = 0;
    const Status status = ImportanceWeights({Info(0.5, 10)}, beta, 0, &weight);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(std::to_string(beta)));
  }
}

TEST(ImportanceWeightsTest, ASampleWithoutProbabilityIsRefused) {
  float weight = 0;
  const Status status = ImportanceWeights({Info(0, 10)}, 0.5, 0, &weight);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("Item 7 came with probability 0.0"));
}

}  // namespace
}  // namespace reverb_tf::ops

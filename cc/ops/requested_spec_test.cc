#include "cc/ops/requested_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reverb_tf::ops {
namespace {

using ::testing::HasSubstr;

TensorSpec Spec(DType dtype, std::vector<int64_t> dims) {
  return TensorSpec{"", dtype, false, std::move(dims)};
}

TEST(AreCompatibleTest, UnknownDimensionsAndRanksMatchAnything) {
  EXPECT_TRUE(AreCompatible(Spec(DType::kFloat32, {-1, 3}), Spec(DType::kFloat32, {2, -1})));
  EXPECT_TRUE(AreCompatible(TensorSpec{"", DType::kFloat32, true, {}}, Spec(DType::kFloat32, {2})));
  EXPECT_TRUE(AreCompatible(Spec(DType::kFloat32, {2}), TensorSpec{"", DType::kFloat32, true, {}}));
}

TEST(AreCompatibleTest, DtypeRankAndDimensionsMustAgree) {
  EXPECT_FALSE(AreCompatible(Spec(DType::kFloat32, {}), Spec(DType::kFloat64, {})));
  EXPECT_FALSE(AreCompatible(Spec(DType::kFloat32, {2}), Spec(DType::kFloat32, {})));
  EXPECT_FALSE(AreCompatible(Spec(DType::kFloat32, {2}), Spec(DType::kFloat32, {3})));
}

TEST(CheckRequestTest, EqualListsPass) {
  EXPECT_TRUE(CheckRequest("t", {Spec(DType::kInt64, {-1})}, {Spec(DType::kInt64, {4})}).ok());
  EXPECT_TRUE(CheckRequest("t", {}, {}).ok());
}

TEST(CheckRequestTest, CountIsNamed) {
  Status status = CheckRequest("t", {Spec(DType::kInt64, {})},
                               {Spec(DType::kInt64, {}), Spec(DType::kInt64, {})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("Inconsistent number of tensors requested from table 't'.  Requested 1 "
                        "tensors, but table signature shows 2 tensors."));
}

TEST(CheckRequestTest, BothSidesOfAMismatchAreNamed) {
  Status status =
      CheckRequest("t", {Spec(DType::kInt64, {3, 3})}, {Spec(DType::kFloat32, {-1, -1})});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "Requested incompatible tensor at flattened index 0 from table 't'.  Requested (dtype, "
          "shape): (int64, [3,3]).  Signature (dtype, shape): (float, [?,?])"));
}

}  // namespace
}  // namespace reverb_tf::ops

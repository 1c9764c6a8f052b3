#include "cc/wire/signature.h"

#include <gtest/gtest.h>

#include <string>

#include "cc/wire/table_info.h"
#include "proto/schema.pb.h"
#include "proto/structured_value.pb.h"

namespace reverb_tf::wire {
namespace {

using tensorflow_compat::StructuredValue;

void SetSpec(const std::string& name, int dtype, const std::vector<int64_t>& dims,
             StructuredValue* value) {
  auto* spec = value->mutable_tensor_spec_value();
  spec->set_name(name);
  spec->set_dtype(static_cast<tensorflow_compat::DataType>(dtype));
  for (const int64_t dim : dims) spec->mutable_shape()->add_dim()->set_size(dim);
}

TEST(SignatureTest, FlattensEveryKindOfNest) {
  StructuredValue value;
  auto& fields = *value.mutable_dict_value()->mutable_fields();
  SetSpec("", 1, {2, -1}, &fields["b"]);
  SetSpec("spec", 3, {}, fields["a"].mutable_list_value()->add_values());
  auto* pair = fields["c"].mutable_named_tuple_value()->add_values();
  pair->set_key("z");
  auto* bounded = pair->mutable_value()->mutable_bounded_tensor_spec_value();
  bounded->set_dtype(tensorflow_compat::DT_STRING);
  bounded->mutable_shape()->set_unknown_rank(true);
  pair = fields["c"].mutable_named_tuple_value()->add_values();
  pair->set_key("y");
  SetSpec("", 9, {0}, pair->mutable_value()->mutable_tuple_value()->add_values());

  const TableSignature signature = ParseSignature(value.SerializeAsString()).value();
  EXPECT_TRUE(signature.has_signature);
  ASSERT_EQ(signature.leaves.size(), 4u);
  EXPECT_EQ(signature.leaves[0].name, "a/0/spec");
  EXPECT_EQ(signature.leaves[0].dtype, DType::kInt32);
  EXPECT_EQ(signature.leaves[1].name, "b");
  EXPECT_EQ(signature.leaves[1].dims, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(signature.leaves[2].name, "c/z");
  EXPECT_TRUE(signature.leaves[2].unknown_rank);
  EXPECT_EQ(signature.leaves[3].name, "c/y/0");
}

TEST(SignatureTest, RefusesOtherKinds) {
  StructuredValue value;
  value.mutable_list_value()->add_values()->set_int64_value(3);
  EXPECT_EQ(ParseSignature(value.SerializeAsString()).status().code(),
            StatusCode::kInvalidArgument);
  SetSpec("", 20, {}, &value);
  EXPECT_EQ(ParseSignature(value.SerializeAsString()).status().code(),
            StatusCode::kInvalidArgument);
  SetSpec("", 1, {-2}, &value);
  EXPECT_EQ(ParseSignature(value.SerializeAsString()).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseSignature("\xff garbage").status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(ParseSignature("").value().leaves.empty());
}

// Deeper than the parser follows: an error, not a stack overflow.
TEST(SignatureTest, RefusesBottomlessNests) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) {
    StructuredValue value;
    value.mutable_list_value();
    std::string inner = "\x0a";
    for (size_t n = bytes.size();; n >>= 7) {
      inner += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
      if (n < 0x80) break;
    }
    inner += bytes;
    std::string outer = "\x9a\x03";
    for (size_t n = inner.size();; n >>= 7) {
      outer += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
      if (n < 0x80) break;
    }
    bytes = outer + inner;
  }
  EXPECT_EQ(ParseSignature(bytes).status().code(), StatusCode::kInvalidArgument);
}

TEST(TableInfoTest, FillsEveryField) {
  core::TableInfo info;
  info.name = "n";
  info.sampler.kind = SelectorOptions::Kind::kPrioritized;
  info.sampler.priority_exponent = 0.6;
  info.remover.kind = SelectorOptions::Kind::kMaxHeap;
  info.remover_is_deterministic = true;
  info.max_size = 5;
  info.max_times_sampled = 6;
  info.rate_limiter.samples_per_insert = 2;
  info.rate_limiter.min_size_to_sample = 3;
  info.rate_limiter.min_diff = -4;
  info.rate_limiter.max_diff = 4;
  info.inserts = 7;
  info.samples = 8;
  info.current_size = 9;
  info.num_episodes = 10;
  info.num_deleted_episodes = 11;
  info.num_unique_samples = 12;
  StructuredValue signature;
  SetSpec("s", 1, {}, &signature);
  info.signature = signature.SerializeAsString();
  deepmind::reverb::TableInfo proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeTableInfo(info)));
  EXPECT_EQ(proto.name(), "n");
  EXPECT_EQ(proto.sampler_options().prioritized().priority_exponent(), 0.6);
  EXPECT_FALSE(proto.sampler_options().is_deterministic());
  EXPECT_TRUE(proto.remover_options().has_heap());
  EXPECT_FALSE(proto.remover_options().heap().min_heap());
  EXPECT_TRUE(proto.remover_options().is_deterministic());
  EXPECT_EQ(proto.max_size(), 5);
  EXPECT_EQ(proto.max_times_sampled(), 6);
  EXPECT_EQ(proto.rate_limiter_info().samples_per_insert(), 2);
  EXPECT_EQ(proto.rate_limiter_info().min_size_to_sample(), 3);
  EXPECT_EQ(proto.rate_limiter_info().min_diff(), -4);
  EXPECT_EQ(proto.rate_limiter_info().max_diff(), 4);
  EXPECT_EQ(proto.rate_limiter_info().insert_stats().completed(), 7);
  EXPECT_EQ(proto.rate_limiter_info().sample_stats().completed(), 8);
  EXPECT_EQ(proto.signature().tensor_spec_value().name(), "s");
  EXPECT_EQ(proto.current_size(), 9);
  EXPECT_EQ(proto.num_episodes(), 10);
  EXPECT_EQ(proto.num_deleted_episodes(), 11);
  EXPECT_EQ(proto.num_unique_samples(), 12);
}

}  // namespace
}  // namespace reverb_tf::wire

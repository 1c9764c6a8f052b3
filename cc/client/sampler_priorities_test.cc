#include "reverb_tf/sampler_priorities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cc/core/table.h"
#include "cc/core/testing/test_items.h"
#include "cc/wire/table_info.h"
#include "proto/schema.pb.h"

namespace reverb_tf {
namespace {

using testing::HasSubstr;

ServerInfo InfoOf(SelectorOptions sampler, const std::vector<double>& priorities) {
  TableOptions options;
  options.name = "t";
  options.sampler = sampler;
  options.max_size = 100;
  const std::shared_ptr<core::Table> table = core::Table::Create(options).value();
  std::vector<core::NewItem> items;
  for (const double priority : priorities) {
    items.push_back(core::MakeTestItem(items.size() + 1, priority));
  }
  if (!items.empty()) {
    table->Insert(std::move(items), std::make_shared<core::RecordingObserver>());
  }
  ServerInfo info;
  info.tables.push_back(wire::SerializeTableInfo(table->Info()));
  return info;
}

SelectorOptions Prioritized(double exponent) {
  return {SelectorOptions::Kind::kPrioritized, exponent};
}

TEST(SamplerPrioritiesTest, TheSmallestAboveZero) {
  const SamplerPriorities priorities =
      GetSamplerPriorities(InfoOf(Prioritized(0.6), {3, 0, 2, 5}), "t").value();
  EXPECT_EQ(priorities.exponent, 0.6);
  EXPECT_EQ(priorities.smallest, 2);
}

TEST(SamplerPrioritiesTest, OtherSamplersHaveNoExponent) {
  const SamplerPriorities priorities = GetSamplerPriorities(InfoOf({}, {3, -2}), "t").value();
  EXPECT_EQ(priorities.exponent, 0);
  EXPECT_EQ(priorities.smallest, 3);
}

TEST(SamplerPrioritiesTest, NoneAboveZero) {
  EXPECT_EQ(GetSamplerPriorities(InfoOf(Prioritized(1), {}), "t")->smallest, 0);
  EXPECT_EQ(GetSamplerPriorities(InfoOf(Prioritized(1), {0, 0}), "t")->smallest, 0);
}

TEST(SamplerPrioritiesTest, UnknownTable) {
  EXPECT_EQ(GetSamplerPriorities(InfoOf({}, {1}), "u").status().code(), StatusCode::kNotFound);
}

TEST(SamplerPrioritiesTest, OtherServersDoNotSayIt) {
  deepmind::reverb::TableInfo proto;
  proto.set_name("t");
  proto.set_current_size(3);
  ServerInfo info;
  info.tables.push_back(proto.SerializeAsString());
  const Status status = GetSamplerPriorities(info, "t").status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("does not say the smallest priority in table 't'"));
}

}  // namespace
}  // namespace reverb_tf

// Names and manifests.
#include "cc/checkpoint/layout.h"

#include <gtest/gtest.h>

#include <string>

#include "cc/checkpoint/manifest.h"

namespace reverb_tf::checkpoint {
namespace {

TEST(LayoutTest, TimestampNames) {
  const std::string name = TimestampName(1764507880245281490);
  EXPECT_TRUE(IsTimestampName(name)) << name;
  EXPECT_NE(name.find(".24528149"), std::string::npos) << name;
  EXPECT_TRUE(IsTimestampName("2026-11-30T13:04:40+00:00"));
  EXPECT_TRUE(IsTimestampName("2026-11-30T13:04:40.5-03:30"));
  for (const char* bad :
       {"", "2026-11-30T13:04:40", "2026-11-30T13:04:40.+00:00", "2026-11-30T13:04:40Z",
        "x2026-11-30T13:04:40+00:00", "2026-11-30T13:04:40.1234567890+00:00",
        "2026-11-30T13:04:40.5x+00:00", "2026-11-30 13:04:40+00:00"}) {
    EXPECT_FALSE(IsTimestampName(bad)) << bad;
  }
}

TEST(LayoutTest, NextTimestampNamesSortBehind) {
  EXPECT_EQ(NextTimestampName("2026-11-30T13:04:40+00:00"), "2026-11-30T13:04:40.000000001+00:00");
  EXPECT_EQ(NextTimestampName("2026-11-30T13:04:40.999999999-03:30"), "2026-11-30T13:04:41-03:30");
  EXPECT_EQ(NextTimestampName("2026-12-31T23:59:59.999999999+00:00"), "2027-01-01T00:00:00+00:00");
  EXPECT_EQ(NextTimestampName("2026-11-30T13:04:40.249999999+00:00"),
            "2026-11-30T13:04:40.25+00:00");
  std::string name = "2026-11-30T13:04:40.999999990+00:00";
  for (int i = 0; i < 30; ++i) {
    const std::string next = NextTimestampName(name);
    EXPECT_GT(next, name);
    EXPECT_TRUE(IsTimestampName(next));
    name = next;
  }
}

TEST(LayoutTest, SegmentNames) {
  const std::string name = SegmentName("2026-11-30T13:04:40.5+00:00", 12);
  EXPECT_TRUE(IsSegmentName(name)) << name;
  for (const char* bad : {"chunks.tfrecord", "chunks-1.tfrecord", "chunks-best-1.tfrecord",
                          "chunks-2026-11-30T13:04:40.5+00:00.tfrecord",
                          "chunks-2026-11-30T13:04:40.5+00:00-1", "notes.txt"}) {
    EXPECT_FALSE(IsSegmentName(bad)) << bad;
  }
}

TEST(ManifestTest, RoundTripAndDamage) {
  Manifest manifest;
  manifest.tables = {kTablesFile, 100, 1};
  manifest.items = {kItemsFile, 0, 0};
  manifest.segments.push_back({SegmentName("2026-11-30T13:04:40.5+00:00", 0), 1 << 20, 7});
  manifest.segments.push_back({SegmentName("2026-11-30T13:04:41+00:00", 0), 12, 1});
  const std::string text = SerializeManifest(manifest);
  const Manifest parsed = ParseManifest(text).value();
  EXPECT_EQ(SerializeManifest(parsed), text);
  ASSERT_EQ(parsed.segments.size(), 2u);
  EXPECT_EQ(parsed.segments[0].num_bytes, 1 << 20);
  EXPECT_EQ(parsed.segments[1].num_records, 1);
  for (size_t n = 0; n < text.size(); ++n) {
    EXPECT_EQ(ParseManifest(text.substr(0, n)).status().code(), StatusCode::kDataLoss) << n;
  }
  for (size_t i = 0; i < 8 * text.size(); ++i) {
    std::string damaged = text;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    EXPECT_EQ(ParseManifest(damaged).status().code(), StatusCode::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace reverb_tf::checkpoint

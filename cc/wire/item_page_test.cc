#include "cc/wire/item_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/reverb_service.pb.h"

namespace reverb_tf::wire {
namespace {

using ::testing::HasSubstr;

TEST(ItemPageTest, ReadsWhatWasFilled) {
  ItemPage page;
  page.items.push_back({~uint64_t{0}, -2.5, 3, Duration(4), 5});
  page.items.push_back({1, 0, 0, Duration(0), 0});
  page.next = 8;
  deepmind::reverb::ListItemsResponse response;
  FillItemPage(page, &response);
  const ItemPage read = ReadItemPage(response, 7).value();
  EXPECT_EQ(read.next, 8u);
  ASSERT_EQ(read.items.size(), 2u);
  EXPECT_EQ(read.items[0].key, ~uint64_t{0});
  EXPECT_EQ(read.items[0].priority, -2.5);
  EXPECT_EQ(read.items[0].times_sampled, 3);
  EXPECT_EQ(read.items[0].age, Duration(4));
  EXPECT_EQ(read.items[0].num_bytes, 5);
  EXPECT_EQ(read.items[1].key, 1u);
}

TEST(ItemPageTest, AListingThatWouldNotEndIsRefused) {
  deepmind::reverb::ListItemsResponse response;
  EXPECT_TRUE(ReadItemPage(response, 7).ok());  // the end
  for (uint64_t next : {1, 7}) {
    response.set_next(next);
    const Status status = ReadItemPage(response, 7).status();
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr("leads back to " + std::to_string(next)));
  }
}

}  // namespace
}  // namespace reverb_tf::wire

#include "cc/wire/item_page.h"

#include <string>

#include "proto/reverb_service.pb.h"

namespace reverb_tf::wire {

void FillItemPage(const ItemPage& page, deepmind::reverb::ListItemsResponse* response) {
  response->mutable_items()->Reserve(static_cast<int>(page.items.size()));
  for (const ItemInfo& item : page.items) {
    auto* const to = response->add_items();
    to->set_key(item.key);
    to->set_priority(item.priority);
    to->set_times_sampled(item.times_sampled);
    to->set_age_nanos(item.age.count());
    to->set_num_bytes(item.num_bytes);
  }
  response->set_next(page.next);
}

Result<ItemPage> ReadItemPage(const deepmind::reverb::ListItemsResponse& response, uint64_t start) {
  if (response.next() != 0 && response.next() <= start) {
    return InternalError("The server answered a listing from " + std::to_string(start) +
                         " with a page that leads back to " + std::to_string(response.next()) +
                         ".");
  }
  ItemPage page;
  page.items.reserve(static_cast<size_t>(response.items_size()));
  for (const auto& item : response.items()) {
    page.items.push_back({item.key(), item.priority(), item.times_sampled(),
                          Duration(item.age_nanos()), item.num_bytes()});
  }
  page.next = response.next();
  return page;
}

}  // namespace reverb_tf::wire

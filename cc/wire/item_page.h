// ItemPage <-> deepmind.reverb.ListItemsResponse.
#ifndef REVERB_TF_WIRE_ITEM_PAGE_H_
#define REVERB_TF_WIRE_ITEM_PAGE_H_

#include <cstdint>

#include "reverb_tf/item_info.h"
#include "reverb_tf/status.h"

namespace deepmind::reverb {
class ListItemsResponse;
}  // namespace deepmind::reverb

namespace reverb_tf::wire {

// `response` must be empty.
void FillItemPage(const ItemPage& page, deepmind::reverb::ListItemsResponse* response);

// The page that begins at `start`. INTERNAL when it leads back there, so that a listing would not
// end.
Result<ItemPage> ReadItemPage(const deepmind::reverb::ListItemsResponse& response, uint64_t start);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_ITEM_PAGE_H_

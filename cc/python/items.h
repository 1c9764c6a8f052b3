// Calls of a client that are about the items and the limiter of one table.
#ifndef REVERB_TF_PYTHON_ITEMS_H_
#define REVERB_TF_PYTHON_ITEMS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "reverb_tf/client.h"

namespace reverb_tf::python {

using ClientPtr = std::shared_ptr<Client>;

// A list of ReplaySamples with whole columns, as a list or in the shape of `structure` (a Structure
// or None). Unknown keys are left out. `timeout` is in seconds or None, here and below.
nanobind::object GetItems(const ClientPtr& client, nanobind::handle table, nanobind::handle keys,
                          nanobind::handle timeout, nanobind::handle structure);

// (list of reverb_types.ItemInfo, where the next page begins or 0).
nanobind::object ListItems(const ClientPtr& client, nanobind::handle table, uint64_t start,
                           int32_t page_size, nanobind::handle timeout);

// How many of the keys were there.
int64_t DeleteItems(const ClientPtr& client, nanobind::handle table, nanobind::handle keys,
                    nanobind::handle timeout);

// `limiter` is what rate_limiters.RateLimiter.internal_limiter returns.
void SetRateLimiter(const ClientPtr& client, nanobind::handle table, nanobind::handle limiter,
                    nanobind::handle timeout);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_ITEMS_H_

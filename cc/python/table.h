// A table as Python holds it.
#ifndef REVERB_TF_PYTHON_TABLE_H_
#define REVERB_TF_PYTHON_TABLE_H_

#include <nanobind/nanobind.h>

#include <memory>

#include "reverb_tf/table.h"

namespace reverb_tf::python {

// `limiter` is a rate_limiters.InternalRateLimiter; TypeError for anything else.
RateLimiterOptions LimiterOptions(nanobind::handle limiter);

struct NativeTable {
  std::shared_ptr<reverb_tf::Table> table;
};

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_TABLE_H_

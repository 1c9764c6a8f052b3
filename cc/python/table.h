// A table as Python holds it.
#ifndef REVERB_TF_PYTHON_TABLE_H_
#define REVERB_TF_PYTHON_TABLE_H_

#include <memory>

#include "reverb_tf/table.h"

namespace reverb_tf::python {

struct NativeTable {
  std::shared_ptr<reverb_tf::Table> table;
};

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_TABLE_H_

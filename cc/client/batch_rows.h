// Arrays whose first axis is the rows of a batch.
#ifndef REVERB_TF_CLIENT_BATCH_ROWS_H_
#define REVERB_TF_CLIENT_BATCH_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reverb_tf/dtype.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::client {

// Of the rows that a batch puts into one chunk when nobody said how many: an item that outlives the
// others keeps no more than that, and much more would not make it cheaper.
inline constexpr size_t kBatchChunkBytes = 64 << 10;

// The row of a view of rows.
inline TensorView RowOf(const TensorView& rows) {
  TensorView row = rows;
  --row.rank;
  ++row.dims;
  return row;
}

// From row to row.
inline size_t StrideOf(const TensorView& row) {
  return row.dtype == DType::kString ? row.num_elements() * sizeof(std::string_view)
                                     : row.num_bytes();
}

inline size_t StringBytes(const TensorView& value) {
  size_t bytes = 0;
  const auto* const strings = static_cast<const std::string_view*>(value.data);
  for (int64_t i = 0; i < value.num_elements(); ++i) bytes += strings[i].size();
  return bytes;
}

// What a row of a view of `num_rows` >= 1 rows takes; of strings, on average.
inline size_t RowBytes(const TensorView& rows, int64_t num_rows) {
  return rows.dtype == DType::kString ? StringBytes(rows) / num_rows + 1 : RowOf(rows).num_bytes();
}

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_BATCH_ROWS_H_

// Delta encoding of integer rows: row 0, then differences, modulo 2^bits.
#ifndef REVERB_TF_WIRE_DELTA_H_
#define REVERB_TF_WIRE_DELTA_H_

#include <cstddef>
#include <cstdint>

#include "reverb_tf/dtype.h"

namespace reverb_tf::wire {

// True for signed and unsigned integers of 8, 16, 32 and 64 bits with rank (row axis included)
// >= 2.
bool DeltaApplies(DType dtype, int32_t rank);

// Rows are `row_bytes` long. No alignment is needed. `out` has num_rows rows and does not overlap
// `rows`.
void DeltaEncode(DType dtype, const char* rows, int64_t num_rows, size_t row_bytes, char* out);
// In place.
void DeltaDecode(DType dtype, char* rows, int64_t num_rows, size_t row_bytes);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_DELTA_H_

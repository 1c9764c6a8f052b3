// Descriptions of arrays: borrowed views (what a caller gives) and specs (what a table expects).
#ifndef REVERB_TF_TENSOR_H_
#define REVERB_TF_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reverb_tf/dtype.h"
#include "reverb_tf/export.h"

namespace reverb_tf {

// A borrowed array: row-major, contiguous, native byte order. The viewed memory (dims included)
// must outlive the call it is given to; no call of this library keeps it.
struct TensorView {
  DType dtype = DType::kInvalid;
  int32_t rank = 0;
  const int64_t* dims = nullptr;  // `rank` entries, each >= 0
  // Elements; for kString an array of std::string_view, one for each element.
  const void* data = nullptr;

  int64_t num_elements() const {
    int64_t n = 1;
    for (int32_t i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  // Bytes of the elements; for kString 0.
  size_t num_bytes() const { return static_cast<size_t>(num_elements()) * DTypeSize(dtype); }
};

// What an array must look like. Dimensions of -1 are unknown.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kInvalid;
  bool unknown_rank = false;
  std::vector<int64_t> dims;

  // True when an array of this dtype and shape satisfies the spec.
  bool Accepts(DType other_dtype, const int64_t* other_dims, int32_t rank) const {
    return other_dtype == dtype && AcceptsShape(other_dims, rank);
  }
  bool AcceptsShape(const int64_t* other_dims, int32_t rank) const {
    if (unknown_rank) return true;
    if (static_cast<size_t>(rank) != dims.size()) return false;
    for (int32_t i = 0; i < rank; ++i) {
      if (dims[i] >= 0 && other_dims[i] >= 0 && dims[i] != other_dims[i]) return false;
    }
    return true;
  }
};

// "[2,?,3]" without spaces, "?" for unknown dimensions; "<unknown>" for an unknown rank.
REVERB_TF_EXPORT std::string ShapeString(const int64_t* dims, int32_t rank);
REVERB_TF_EXPORT std::string ShapeString(const TensorSpec& spec);

}  // namespace reverb_tf

#endif  // REVERB_TF_TENSOR_H_

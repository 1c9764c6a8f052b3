// Element types. Numbers are those of tensorflow.DataType, which the protocol carries.
#ifndef REVERB_TF_DTYPE_H_
#define REVERB_TF_DTYPE_H_

#include <cstddef>
#include <cstdint>

#include "reverb_tf/export.h"

namespace reverb_tf {

enum class DType : int32_t {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kFloat16 = 19,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5M2 = 24,
  kFloat8E4M3FN = 25,
  kFloat8E4M3FNUZ = 26,
  kFloat8E4M3B11FNUZ = 27,
  kFloat8E5M2FNUZ = 28,
  kInt4 = 29,
  kUint4 = 30,
  kInt2 = 31,
  kUint2 = 32,
  kFloat4E2M1FN = 33,
};

// Bytes of one element in memory and in a (decompressed) chunk; 0 for kString and for numbers that
// are not an element type of this library. Types of less than eight bits take one byte.
REVERB_TF_EXPORT size_t DTypeSize(DType dtype);

// True for every member of DType but kInvalid; checks numbers that come from a peer.
REVERB_TF_EXPORT bool IsSupportedDType(int32_t number);

// TensorFlow's short name: "float", "double", "int32", "string", "half", ...
REVERB_TF_EXPORT const char* DTypeName(DType dtype);

}  // namespace reverb_tf

#endif  // REVERB_TF_DTYPE_H_

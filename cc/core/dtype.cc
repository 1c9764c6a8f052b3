#include "reverb_tf/dtype.h"

namespace reverb_tf {
namespace {

struct DTypeTraits {
  const char* name;  // null: not an element type
  size_t size;
};

constexpr int kNumTraits = 34;

// Indexed by the number of the dtype. Names are those of tensorflow::DataTypeString.
constexpr DTypeTraits kTraits[kNumTraits] = {
    {nullptr, 0},
    {"float", 4},
    {"double", 8},
    {"int32", 4},
    {"uint8", 1},
    {"int16", 2},
    {"int8", 1},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"qint16", 2},
    {"quint16", 2},
    {"uint16", 2},
    {"complex128", 16},
    {"half", 2},
    {nullptr, 0},
    {nullptr, 0},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"int4", 1},
    {"uint4", 1},
    {"int2", 1},
    {"uint2", 1},
    {"float4_e2m1fn", 1},
};

const DTypeTraits& Traits(int32_t number) {
  return kTraits[number >= 0 && number < kNumTraits ? number : 0];
}

}  // namespace

size_t DTypeSize(DType dtype) { return Traits(static_cast<int32_t>(dtype)).size; }

bool IsSupportedDType(int32_t number) { return Traits(number).name != nullptr; }

const char* DTypeName(DType dtype) {
  const char* name = Traits(static_cast<int32_t>(dtype)).name;
  return name != nullptr ? name : "invalid";
}

}  // namespace reverb_tf

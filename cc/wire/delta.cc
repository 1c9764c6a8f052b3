#include "cc/wire/delta.h"

#include <cstring>

namespace reverb_tf::wire {
namespace {

template <typename T>
T Load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// `n` elements: out = a - b.
template <typename T>
void Subtract(const char* a, const char* b, size_t bytes, char* out) {
  for (size_t i = 0; i < bytes; i += sizeof(T)) {
    const T difference = static_cast<T>(Load<T>(a + i) - Load<T>(b + i));
    std::memcpy(out + i, &difference, sizeof difference);
  }
}

template <typename T>
void AddTo(char* a, const char* b, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof(T)) {
    const T sum = static_cast<T>(Load<T>(a + i) + Load<T>(b + i));
    std::memcpy(a + i, &sum, sizeof sum);
  }
}

template <typename T>
void Encode(const char* rows, int64_t num_rows, size_t row_bytes, char* out) {
  std::memcpy(out, rows, row_bytes);
  for (int64_t i = 1; i < num_rows; ++i) {
    rows += row_bytes;
    out += row_bytes;
    Subtract<T>(rows, rows - row_bytes, row_bytes, out);
  }
}

template <typename T>
void Decode(char* rows, int64_t num_rows, size_t row_bytes) {
  for (int64_t i = 1; i < num_rows; ++i) {
    rows += row_bytes;
    AddTo<T>(rows, rows - row_bytes, row_bytes);
  }
}

}  // namespace

bool DeltaApplies(DType dtype, int32_t rank) {
  if (rank < 2) return false;
  switch (dtype) {
    case DType::kInt8:
    case DType::kUint8:
    case DType::kInt16:
    case DType::kUint16:
    case DType::kInt32:
    case DType::kUint32:
    case DType::kInt64:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

void DeltaEncode(DType dtype, const char* rows, int64_t num_rows, size_t row_bytes, char* out) {
  if (num_rows == 0 || row_bytes == 0) return;
  switch (DTypeSize(dtype)) {
    case 1:
      return Encode<uint8_t>(rows, num_rows, row_bytes, out);
    case 2:
      return Encode<uint16_t>(rows, num_rows, row_bytes, out);
    case 4:
      return Encode<uint32_t>(rows, num_rows, row_bytes, out);
    default:
      return Encode<uint64_t>(rows, num_rows, row_bytes, out);
  }
}

void DeltaDecode(DType dtype, char* rows, int64_t num_rows, size_t row_bytes) {
  if (row_bytes == 0) return;
  switch (DTypeSize(dtype)) {
    case 1:
      return Decode<uint8_t>(rows, num_rows, row_bytes);
    case 2:
      return Decode<uint16_t>(rows, num_rows, row_bytes);
    case 4:
      return Decode<uint32_t>(rows, num_rows, row_bytes);
    default:
      return Decode<uint64_t>(rows, num_rows, row_bytes);
  }
}

}  // namespace reverb_tf::wire

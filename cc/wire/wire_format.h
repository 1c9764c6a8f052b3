// Protobuf's wire format, written by hand: sizes first, then bytes into memory that is large
// enough.
#ifndef REVERB_TF_WIRE_WIRE_FORMAT_H_
#define REVERB_TF_WIRE_WIRE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace reverb_tf::wire {

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

inline constexpr size_t kMaxVarintSize = 10;

// 1 to 10.
inline size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(63 - __builtin_clzll(value | 1)) * 9 + 73) / 64;
}

// Negative int32 and int64 fields are sign-extended to 64 bits.
inline uint64_t SignExtend(int64_t value) { return static_cast<uint64_t>(value); }

// Each Write function returns the end of what it wrote.
inline char* WriteVarint(char* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

// Only field numbers below 16: one byte.
inline char* WriteTag(char* out, int field, WireType type) {
  *out++ = static_cast<char>((field << 3) | static_cast<int>(type));
  return out;
}

// A varint field below number 16. Zero is the default and is left out.
inline size_t VarintFieldSize(uint64_t value) { return value == 0 ? 0 : 1 + VarintSize(value); }
inline char* WriteVarintField(char* out, int field, uint64_t value) {
  return value == 0 ? out : WriteVarint(WriteTag(out, field, WireType::kVarint), value);
}

// A double field below number 16. Positive zero is left out.
inline bool IsPositiveZero(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits == 0;
}
inline size_t DoubleFieldSize(double value) { return IsPositiveZero(value) ? 0 : 9; }
inline char* WriteDoubleField(char* out, int field, double value) {
  if (IsPositiveZero(value)) return out;
  out = WriteTag(out, field, WireType::kFixed64);
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

// Tag and length of a message, string or bytes field below number 16.
inline size_t DelimitedSize(size_t length) { return 1 + VarintSize(length) + length; }
inline char* WriteDelimitedHeader(char* out, int field, size_t length) {
  return WriteVarint(WriteTag(out, field, WireType::kDelimited), length);
}
inline char* WriteBytes(char* out, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_WIRE_FORMAT_H_

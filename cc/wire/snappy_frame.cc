#include "cc/wire/snappy_frame.h"

#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {
namespace {

// Two low bits of an element's first byte.
enum ElementKind : uint8_t { kLiteral = 0, kCopy1 = 1, kCopy2 = 2, kCopy4 = 3 };

// Lengths of literals above 60 are stored in 1 to 4 bytes behind the tag.
constexpr size_t kInlineLiteral = 60;

size_t LengthBytes(size_t literal_size) {
  if (literal_size <= kInlineLiteral) return 0;
  const uint64_t stored = literal_size - 1;
  return (64 - static_cast<size_t>(__builtin_clzll(stored)) + 7) / 8;
}

uint32_t LoadLittleEndian(const unsigned char* p, int n) {
  uint32_t value = 0;
  for (int i = 0; i < n; ++i) value |= static_cast<uint32_t>(p[i]) << (8 * i);
  return value;
}

// The varint in front of a block: at most five bytes and 32 bits.
const unsigned char* ReadPreamble(const unsigned char* p, const unsigned char* end,
                                  uint64_t* raw_size) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35 && p != end; shift += 7) {
    const uint64_t byte = *p++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *raw_size = value;
      return value >> 32 == 0 ? p : nullptr;
    }
  }
  return nullptr;
}

// One element: how many bytes it makes, and from how far back (0: a literal, whose bytes follow
// `p`).
struct Element {
  uint64_t length;
  uint64_t offset;
};

// Returns the position behind the element's header, or null when it is cut off.
const unsigned char* ReadElement(const unsigned char* p, const unsigned char* end, Element* e) {
  const uint8_t tag = *p++;
  const auto kind = static_cast<ElementKind>(tag & 3);
  static constexpr int kExtraBytes[] = {0, 1, 2, 4};
  int extra = kExtraBytes[kind];
  if (kind == kLiteral && (tag >> 2) >= kInlineLiteral) extra = (tag >> 2) - 59;
  if (end - p < extra) return nullptr;
  switch (kind) {
    case kLiteral:
      e->length = (extra == 0 ? tag >> 2 : LoadLittleEndian(p, extra)) + uint64_t{1};
      e->offset = 0;
      break;
    case kCopy1:
      e->length = 4 + ((tag >> 2) & 7);
      e->offset = (static_cast<uint64_t>(tag >> 5) << 8) | *p;
      break;
    case kCopy2:
    case kCopy4:
      e->length = (tag >> 2) + 1;
      e->offset = LoadLittleEndian(p, extra);
      break;
  }
  // A copy from nowhere is told from a literal by the caller.
  if (kind != kLiteral && e->offset == 0) return nullptr;
  return p + extra;
}

}  // namespace

size_t LiteralFrameSize(size_t raw_size) {
  const size_t preamble = VarintSize(raw_size);
  return raw_size == 0 ? preamble : preamble + 1 + LengthBytes(raw_size) + raw_size;
}

char* WriteLiteralHeader(char* out, size_t raw_size) {
  out = WriteVarint(out, raw_size);
  if (raw_size == 0) return out;
  const size_t bytes = LengthBytes(raw_size);
  uint64_t stored = raw_size - 1;
  *out++ = static_cast<char>((bytes == 0 ? stored : kInlineLiteral - 1 + bytes) << 2);
  for (size_t i = 0; i < bytes; ++i, stored >>= 8) *out++ = static_cast<char>(stored);
  return out;
}

Status CheckSnappy(std::string_view block, uint64_t raw_size) {
  const auto* p = reinterpret_cast<const unsigned char*>(block.data());
  const auto* end = p + block.size();
  uint64_t declared;
  p = ReadPreamble(p, end, &declared);
  if (p == nullptr) return InvalidArgumentError("the snappy block has no valid length");
  if (declared != raw_size) {
    return InvalidArgumentError("the snappy block declares " + std::to_string(declared) +
                                " bytes, but dtype and shape need " + std::to_string(raw_size));
  }
  uint64_t made = 0;
  while (p != end) {
    Element e;
    p = ReadElement(p, end, &e);
    if (p == nullptr) return InvalidArgumentError("the snappy block has a malformed element");
    if (e.length > raw_size - made) {
      return InvalidArgumentError("the snappy block holds more than the " +
                                  std::to_string(raw_size) + " bytes that it declares");
    }
    if (e.offset == 0) {
      if (e.length > static_cast<uint64_t>(end - p)) {
        return InvalidArgumentError("the snappy block is cut off inside a literal");
      }
      p += e.length;
    } else if (e.offset > made) {
      return InvalidArgumentError("the snappy block copies from before its start");
    }
    made += e.length;
  }
  if (made == raw_size) return OkStatus();
  return InvalidArgumentError("the snappy block holds " + std::to_string(made) + " of the " +
                              std::to_string(raw_size) + " bytes that it declares");
}

bool SkipLiteralHeader(Cursor* block, uint64_t raw_size) {
  // A preamble of five bytes, a tag, a length of four.
  unsigned char header[10];
  const size_t available = std::min(block->remaining(), sizeof header);
  Cursor start = *block;
  if (!start.Copy(header, available)) return false;
  const unsigned char* const end = header + available;
  uint64_t declared;
  const unsigned char* p = ReadPreamble(header, end, &declared);
  if (p == nullptr || declared != raw_size) return false;
  if (raw_size > 0) {
    Element e;
    p = p == end ? nullptr : ReadElement(p, end, &e);
    if (p == nullptr || e.offset != 0 || e.length != raw_size) return false;
  }
  const size_t header_size = static_cast<size_t>(p - header);
  return block->remaining() - header_size == raw_size && block->Skip(header_size);
}

Status Decompress(std::string_view block, void* out, size_t raw_size) {
  size_t declared;
  if (!snappy::GetUncompressedLength(block.data(), block.size(), &declared) ||
      declared != raw_size) {
    return DataLossError("a snappy block does not hold the expected " + std::to_string(raw_size) +
                         " bytes");
  }
  if (raw_size == 0) return OkStatus();
  if (!snappy::RawUncompress(block.data(), block.size(), static_cast<char*>(out))) {
    return DataLossError("a snappy block of " + std::to_string(block.size()) +
                         " bytes does not decompress");
  }
  return OkStatus();
}

}  // namespace reverb_tf::wire

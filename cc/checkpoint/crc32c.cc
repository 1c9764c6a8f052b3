#include "cc/checkpoint/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace reverb_tf::checkpoint {
namespace {

using Table = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b]: the effect of byte b, k bytes before the end of eight.
Table MakeTable() {
  Table tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) {
      const uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t Crc32cByInstruction(std::string_view bytes,
                                                               uint32_t crc) {
  const char* data = bytes.data();
  size_t n = bytes.size();
  uint64_t state = ~crc;
  for (; n >= 8; n -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    state = __builtin_ia32_crc32di(state, word);
  }
  uint32_t rest = static_cast<uint32_t>(state);
  for (; n > 0; --n, ++data) rest = __builtin_ia32_crc32qi(rest, static_cast<uint8_t>(*data));
  return ~rest;
}
#endif

}  // namespace

uint32_t Crc32cByTable(std::string_view bytes, uint32_t crc) {
  static const Table tables = MakeTable();
  const char* data = bytes.data();
  size_t n = bytes.size();
  uint32_t state = ~crc;
  for (; n >= 8; n -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= state;
    state = 0;
    for (size_t k = 0; k < 8; ++k) state ^= tables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; n > 0; --n, ++data) {
    state = (state >> 8) ^ tables[0][(state ^ static_cast<uint8_t>(*data)) & 0xff];
  }
  return ~state;
}

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return Crc32cByInstruction(bytes, crc);
#endif
  return Crc32cByTable(bytes, crc);
}

}  // namespace reverb_tf::checkpoint

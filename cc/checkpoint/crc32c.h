// The checksum of records: CRC-32C (Castagnoli).
#ifndef REVERB_TF_CHECKPOINT_CRC32C_H_
#define REVERB_TF_CHECKPOINT_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace reverb_tf::checkpoint {

// Of the bytes; with `crc`, that of what came before, of both together. Several GB/s where the
// processor has an instruction for it.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

// Without that instruction; for tests.
uint32_t Crc32cByTable(std::string_view bytes, uint32_t crc = 0);

// As TFRecord files store it: rotated and offset, so that a file of checksums has good ones too.
inline uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace reverb_tf::checkpoint

#endif  // REVERB_TF_CHECKPOINT_CRC32C_H_

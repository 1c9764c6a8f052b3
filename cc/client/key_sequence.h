// Keys that look random and can be turned back into the order in which they were given out.
#ifndef REVERB_TF_CLIENT_KEY_SEQUENCE_H_
#define REVERB_TF_CLIENT_KEY_SEQUENCE_H_

#include <cstdint>

#include "cc/core/random.h"

namespace reverb_tf::client {

// Key number i is a bijective mix of (random start + i): distinct within a sequence, spread evenly
// over 64 bits, and, between sequences, less likely to collide than independent random keys.
// Immutable, thread-safe.
class KeySequence {
 public:
  KeySequence() : start_(core::Random(std::nullopt).Next()) {}
  explicit KeySequence(uint64_t start) : start_(start) {}

  uint64_t Key(uint64_t index) const {
    uint64_t x = start_ + index;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  // The inverse of Key; some other number for a key of another sequence.
  uint64_t Index(uint64_t key) const {
    uint64_t x = (key ^ (key >> 31) ^ (key >> 62)) * 0x319642b2d24d8ec3;
    x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089;
    return (x ^ (x >> 30) ^ (x >> 60)) - start_;
  }

 private:
  const uint64_t start_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_KEY_SEQUENCE_H_

// A fast source of random numbers for choices (not for secrets).
#ifndef REVERB_TF_CORE_RANDOM_H_
#define REVERB_TF_CORE_RANDOM_H_

#include <cstdint>
#include <optional>
#include <random>

namespace reverb_tf::core {

// xoshiro256++ 1.0 (Blackman and Vigna), its state filled by splitmix64. Not thread-safe.
class Random {
 public:
  // The same seed gives the same numbers; nullopt: seeded by the system.
  explicit Random(std::optional<uint64_t> seed) {
    uint64_t x = seed.has_value() ? *seed : SystemSeed();
    for (uint64_t& word : state_) word = SplitMix(&x);
  }

  uint64_t Next() {
    const uint64_t result = Rotate(state_[0] + state_[3], 23) + state_[0];
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }
  // In [0, n), n >= 1; each with a probability within 2^-64 of 1 / n.
  uint64_t Below(uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Next()) * n) >> 64);
  }
  // In [0, 1), a multiple of 2^-53.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  static uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t SplitMix(uint64_t* x) {
    uint64_t z = (*x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  static uint64_t SystemSeed() {
    std::random_device device;
    return (static_cast<uint64_t>(device()) << 32) | device();
  }

  uint64_t state_[4];
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_RANDOM_H_

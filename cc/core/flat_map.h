// A map from 64-bit keys to small values in one array.
#ifndef REVERB_TF_CORE_FLAT_MAP_H_
#define REVERB_TF_CORE_FLAT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cc/core/random.h"

namespace reverb_tf::core {

// Open addressing with linear probing; an erasure moves later entries back, so that there are no
// tombstones. The hash is multiplication by a random odd number: a peer that chooses its keys
// cannot make them collide. V is an integer; the value `kAbsent` cannot be stored. Pointers into
// the map are valid until it is changed. Not thread-safe.
template <typename V, V kAbsent>
class FlatMap {
 public:
  FlatMap() : multiplier_(ProcessMultiplier()) {}

  size_t size() const { return size_; }
  size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

  // Null when absent.
  const V* Find(uint64_t key) const {
    if (size_ == 0) return nullptr;
    const Entry& entry = entries_[Probe(key)];
    return entry.value == kAbsent ? nullptr : &entry.value;
  }
  V* Find(uint64_t key) { return const_cast<V*>(std::as_const(*this).Find(key)); }

  // The value of the key; a new key gets `value`, and second is true.
  std::pair<V*, bool> Insert(uint64_t key, V value) {
    if (4 * (size_ + 1) > 3 * entries_.size()) Grow();
    Entry& entry = entries_[Probe(key)];
    if (entry.value != kAbsent) return {&entry.value, false};
    entry = {key, value};
    ++size_;
    return {&entry.value, true};
  }

  // False when absent.
  bool Erase(uint64_t key) {
    if (size_ == 0) return false;
    size_t hole = Probe(key);
    if (entries_[hole].value == kAbsent) return false;
    const size_t mask = entries_.size() - 1;
    for (size_t i = (hole + 1) & mask; entries_[i].value != kAbsent; i = (i + 1) & mask) {
      // An entry may fill the hole unless it would then lie before its home.
      if (((i - Home(entries_[i].key)) & mask) < ((i - hole) & mask)) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole].value = kAbsent;
    --size_;
    return true;
  }

  // Begins to fetch what the next call for the key reads.
  void Prefetch(uint64_t key) const {
    if (size_ != 0) __builtin_prefetch(&entries_[Home(key)]);
  }

 private:
  struct Entry {
    uint64_t key = 0;
    V value = kAbsent;
  };

  static uint64_t ProcessMultiplier() {
    static const uint64_t multiplier = Random(std::nullopt).Next() | 1;
    return multiplier;
  }

  size_t Home(uint64_t key) const { return (key * multiplier_) >> shift_; }
  // Where the key is, or else where it would go. There is at least one absent entry.
  size_t Probe(uint64_t key) const {
    const size_t mask = entries_.size() - 1;
    size_t i = Home(key);
    while (entries_[i].value != kAbsent && entries_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void Grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : 2 * entries_.size());
    old.swap(entries_);
    shift_ = 64 - __builtin_ctzll(entries_.size());
    for (const Entry& entry : old) {
      if (entry.value != kAbsent) entries_[Probe(entry.key)] = entry;
    }
  }

  uint64_t multiplier_;
  int shift_ = 0;
  size_t size_ = 0;
  std::vector<Entry> entries_;  // 2^k of them, or none
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_FLAT_MAP_H_

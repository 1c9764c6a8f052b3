// Picks an item: the next to be sampled, or the next to be removed.
#ifndef REVERB_TF_CORE_SELECTOR_H_
#define REVERB_TF_CORE_SELECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "reverb_tf/status.h"
#include "reverb_tf/table.h"

namespace reverb_tf::core {

// Index of an item's row in its table's arrays: small, dense, reused after a deletion. Selectors
// are flat arrays indexed by it and need no hash map.
using Slot = uint32_t;

// Not thread-safe: the table calls it under its lock. Nothing here allocates per item beyond
// growing its arrays.
class Selector {
 public:
  struct Pick {
    Slot slot;
    double probability;
  };

  virtual ~Selector() = default;

  // INVALID_ARGUMENT, with the value, for a priority that this selector cannot hold. The table asks
  // before it changes anything. (NaN: every selector. Negative, infinite or overflowing weights:
  // prioritized.)
  virtual Status CheckPriority(double priority) const = 0;

  // `slot` must not be held / must be held; the priority must have passed CheckPriority.
  // INVALID_ARGUMENT otherwise, and nothing has changed.
  virtual Status Insert(Slot slot, double priority) = 0;
  virtual Status Delete(Slot slot) = 0;
  virtual Status Update(Slot slot, double priority) = 0;

  // FAILED_PRECONDITION when empty. Does not remove.
  virtual Result<Pick> Sample() = 0;
  // What n calls of Sample() give, in less time.
  virtual Status SampleMany(Pick* picks, size_t n);

  // Begins to fetch what Update() of the slot reads into the cache. Any slot.
  virtual void Prefetch(Slot slot) const { (void)slot; }

  // O(1); keeps the memory for what comes next.
  virtual void Clear() = 0;
  virtual size_t size() const = 0;
  // Heap memory in use.
  virtual size_t memory_bytes() const = 0;

  virtual const SelectorOptions& options() const = 0;
  // True when Sample() depends on the history of calls only (fifo, lifo, heaps).
  bool is_deterministic() const {
    return options().kind != SelectorOptions::Kind::kUniform &&
           options().kind != SelectorOptions::Kind::kPrioritized;
  }
};

// For people: "Prioritized(0.6)".
std::string SelectorText(const SelectorOptions& options);

// INVALID_ARGUMENT for an exponent that is not finite.
Result<std::unique_ptr<Selector>> MakeSelector(const SelectorOptions& options,
                                               std::optional<uint64_t> seed);

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_SELECTOR_H_

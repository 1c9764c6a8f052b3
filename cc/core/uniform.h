// Picks each item with the same probability.
#ifndef REVERB_TF_CORE_UNIFORM_H_
#define REVERB_TF_CORE_UNIFORM_H_

#include <cstdint>
#include <optional>

#include "cc/core/dense_slots.h"
#include "cc/core/random.h"
#include "cc/core/selector.h"

namespace reverb_tf::core {

// Priorities have no effect. Everything is O(1).
class Uniform : public Selector {
 public:
  explicit Uniform(std::optional<uint64_t> seed) : random_(seed) {}

  Status CheckPriority(double priority) const override;
  Status Insert(Slot slot, double priority) override;
  Status Delete(Slot slot) override;
  Status Update(Slot slot, double priority) override;
  Result<Pick> Sample() override;
  Status SampleMany(Pick* picks, size_t n) override;
  void Clear() override { slots_.Clear(); }
  size_t size() const override { return slots_.size(); }
  size_t memory_bytes() const override { return slots_.memory_bytes(); }
  const SelectorOptions& options() const override { return options_; }

 private:
  const SelectorOptions options_{SelectorOptions::Kind::kUniform, 1.0};
  Random random_;
  DenseSlots slots_;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_UNIFORM_H_

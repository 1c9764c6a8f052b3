#include "cc/core/selector.h"

#include <cmath>

#include "cc/core/arrival_order.h"
#include "cc/core/heap.h"
#include "cc/core/number_text.h"
#include "cc/core/prioritized.h"
#include "cc/core/uniform.h"

namespace reverb_tf::core {

Status Selector::SampleMany(Pick* picks, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    REVERB_TF_ASSIGN_OR_RETURN(picks[i], Sample());
  }
  return OkStatus();
}

std::string SelectorText(const SelectorOptions& options) {
  switch (options.kind) {
    case SelectorOptions::Kind::kFifo:
      return "Fifo";
    case SelectorOptions::Kind::kLifo:
      return "Lifo";
    case SelectorOptions::Kind::kUniform:
      return "Uniform";
    case SelectorOptions::Kind::kPrioritized:
      return "Prioritized(" + NumberText(options.priority_exponent) + ")";
    case SelectorOptions::Kind::kMinHeap:
      return "MinHeap";
    case SelectorOptions::Kind::kMaxHeap:
      return "MaxHeap";
  }
  return "unknown";
}

Result<std::unique_ptr<Selector>> MakeSelector(const SelectorOptions& options,
                                               std::optional<uint64_t> seed) {
  using Made = std::unique_ptr<Selector>;
  switch (options.kind) {
    case SelectorOptions::Kind::kFifo:
    case SelectorOptions::Kind::kLifo:
      return Made(new ArrivalOrder(options.kind));
    case SelectorOptions::Kind::kUniform:
      return Made(new Uniform(seed));
    case SelectorOptions::Kind::kPrioritized:
      if (!std::isfinite(options.priority_exponent)) {
        return InvalidArgumentError("priority_exponent is " +
                                    NumberText(options.priority_exponent) +
                                    "; expected a finite number.");
      }
      return Made(new Prioritized(options.priority_exponent, seed));
    case SelectorOptions::Kind::kMinHeap:
      return Made(new Heap(Heap::Order::kMin));
    case SelectorOptions::Kind::kMaxHeap:
      return Made(new Heap(Heap::Order::kMax));
  }
  return InvalidArgumentError("Selector kind " + std::to_string(static_cast<int>(options.kind)) +
                              " does not exist.");
}

}  // namespace reverb_tf::core

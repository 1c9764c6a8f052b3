#include "cc/ops/importance_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace reverb_tf::ops {
namespace {

double SizeTimesProbability(const SampleInfo& info) {
  return static_cast<double>(info.table_size) * info.probability;
}

}  // namespace

Status ImportanceWeights(const std::vector<SampleInfo>& samples, double beta, double smallest,
                         float* weights) {
  if (!std::isfinite(beta) || beta < 0) {
    return InvalidArgumentError("The exponent of importance weights must be finite and >= 0, got " +
                                std::to_string(beta) + ".");
  }
  double least = smallest > 0 ? smallest : HUGE_VAL;
  for (const SampleInfo& info : samples) {
    const double value = SizeTimesProbability(info);
    if (!(value > 0)) {
      return InvalidArgumentError("Item " + std::to_string(info.key) + " came with probability " +
                                  std::to_string(info.probability) + " and table size " +
                                  std::to_string(info.table_size) +
                                  ": there are no importance weights without them.");
    }
    least = std::min(least, value);
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    weights[i] = static_cast<float>(std::pow(least / SizeTimesProbability(samples[i]), beta));
  }
  return OkStatus();
}

}  // namespace reverb_tf::ops

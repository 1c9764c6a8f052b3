// Decides when a table may insert and sample.
#ifndef REVERB_TF_CORE_RATE_LIMITER_H_
#define REVERB_TF_CORE_RATE_LIMITER_H_

#include <cstdint>
#include <limits>
#include <string>

#include "reverb_tf/status.h"
#include "reverb_tf/table.h"

namespace reverb_tf::core {

// Not thread-safe: the table calls it under its lock. See RateLimiterOptions for the rule.
class RateLimiter {
 public:
  // INVALID_ARGUMENT names the value: samples_per_insert > 0 and finite, min_size_to_sample >= 1,
  // diffs not NaN, min_diff <= max_diff.
  static Status Check(const RateLimiterOptions& options);

  explicit RateLimiter(const RateLimiterOptions& options) : options_(options) {}

  // n >= 1.
  bool CanSample(int64_t n) const {
    if (inserts_ - deletes_ < options_.min_size_to_sample) return false;
    const double diff = static_cast<double>(inserts_) * options_.samples_per_insert -
                        static_cast<double>(samples_) - static_cast<double>(n);
    return diff >= options_.min_diff;
  }
  bool CanInsert(int64_t n) const {
    // Without overflow for any n.
    if (n <= options_.min_size_to_sample - (inserts_ - deletes_)) return true;
    const double inserts = static_cast<double>(inserts_) + static_cast<double>(n);
    return inserts * options_.samples_per_insert - static_cast<double>(samples_) <=
           options_.max_diff;
  }

  void DidInsert() { ++inserts_; }
  void DidSample() { ++samples_; }
  void DidDelete() { ++deletes_; }
  void SetCounts(int64_t inserts, int64_t samples, int64_t deletes) {
    inserts_ = inserts;
    samples_ = samples;
    deletes_ = deletes;
  }
  void Reset() { inserts_ = samples_ = deletes_ = 0; }

  // Another rule, the same counters. The options have passed Check.
  void SetOptions(const RateLimiterOptions& options) { options_ = options; }

  const RateLimiterOptions& options() const { return options_; }
  int64_t inserts() const { return inserts_; }
  int64_t samples() const { return samples_; }
  int64_t deletes() const { return deletes_; }

  // How many samples (inserts) are allowed now if nothing else happens meanwhile.
  inline static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  int64_t NumSamplesAllowed() const;
  int64_t NumInsertsAllowed() const;

  // One sentence with the numbers: why a sample (insert) is not allowed now, or how many are.
  std::string ExplainSample() const;
  std::string ExplainInsert() const;

 private:
  double Diff() const {
    return static_cast<double>(inserts_) * options_.samples_per_insert -
           static_cast<double>(samples_);
  }
  // "inserts * samples_per_insert - samples = 3 * 2 - 1 = 5"
  std::string DiffText() const;

  RateLimiterOptions options_;
  int64_t inserts_ = 0;
  int64_t samples_ = 0;
  int64_t deletes_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_RATE_LIMITER_H_

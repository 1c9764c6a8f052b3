#include "cc/core/rate_limiter.h"

#include <cmath>

#include "cc/core/number_text.h"

namespace reverb_tf::core {
namespace {

// More than this is as good as no limit, and larger numbers do not fit an int64.
constexpr double kManyItems = 9e15;

int64_t Count(double n) {
  if (!(n < kManyItems)) return RateLimiter::kNoLimit;
  return n > 0 ? static_cast<int64_t>(n) : 0;
}

std::string CountText(int64_t n) {
  if (n == RateLimiter::kNoLimit) return "any number of items";
  return std::to_string(n) + (n == 1 ? " item" : " items");
}

Status Invalid(const std::string& option, const std::string& given, const std::string& expected) {
  return InvalidArgumentError("Rate limiter: " + option + " is " + given + "; expected " +
                              expected + ".");
}

}  // namespace

Status RateLimiter::Check(const RateLimiterOptions& options) {
  if (!(options.samples_per_insert > 0) || !std::isfinite(options.samples_per_insert)) {
    return Invalid("samples_per_insert", NumberText(options.samples_per_insert),
                   "a finite number above 0");
  }
  if (options.min_size_to_sample < 1) {
    return Invalid("min_size_to_sample", std::to_string(options.min_size_to_sample), "at least 1");
  }
  if (std::isnan(options.min_diff)) return Invalid("min_diff", "nan", "a number");
  if (std::isnan(options.max_diff)) return Invalid("max_diff", "nan", "a number");
  if (options.min_diff > options.max_diff) {
    return Invalid("min_diff", NumberText(options.min_diff),
                   "at most max_diff, which is " + NumberText(options.max_diff));
  }
  return OkStatus();
}

int64_t RateLimiter::NumSamplesAllowed() const {
  if (inserts_ - deletes_ < options_.min_size_to_sample) return 0;
  return Count(std::floor(Diff() - options_.min_diff));
}

int64_t RateLimiter::NumInsertsAllowed() const {
  const double by_diff = std::floor((options_.max_diff - Diff()) / options_.samples_per_insert);
  const double by_size = static_cast<double>(options_.min_size_to_sample - (inserts_ - deletes_));
  return Count(std::fmax(by_diff, by_size));
}

std::string RateLimiter::DiffText() const {
  return "inserts * samples_per_insert - samples = " + std::to_string(inserts_) + " * " +
         NumberText(options_.samples_per_insert) + " - " + std::to_string(samples_) + " = " +
         NumberText(Diff());
}

std::string RateLimiter::ExplainSample() const {
  const int64_t size = inserts_ - deletes_;
  if (size < options_.min_size_to_sample) {
    return "Sampling waits for items: the table holds " + std::to_string(size) + " of the " +
           std::to_string(options_.min_size_to_sample) + " it needs (min_size_to_sample).";
  }
  if (!CanSample(1)) {
    return "Sampling waits for inserts: " + DiffText() +
           ", and one more sample would take it below min_diff, " + NumberText(options_.min_diff) +
           ".";
  }
  return "May sample " + CountText(NumSamplesAllowed()) + " before the next insert (" + DiffText() +
         ").";
}

std::string RateLimiter::ExplainInsert() const {
  if (!CanInsert(1)) {
    return "Inserting waits for samples: " + DiffText() +
           ", and one more insert would take it above max_diff, " + NumberText(options_.max_diff) +
           ".";
  }
  return "May insert " + CountText(NumInsertsAllowed()) + " before the next sample (" + DiffText() +
         ").";
}

}  // namespace reverb_tf::core

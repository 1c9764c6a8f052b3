#include "cc/core/rate_limiter.h"

#include <cmath>
#include <limits>

#include "cc/core/number_text.h"

namespace reverb_tf::core {
namespace {

// More than this is as good as no limit, and larger numbers do not fit an int64.
constexpr double kNoLimit = 9e15;

std::string Count(double n, const char* singular, const char* plural) {
  if (!(n < kNoLimit)) return std::string("any number of ") + plural;
  const int64_t count = n > 0 ? static_cast<int64_t>(n) : 0;
  return std::to_string(count) + " " + (count == 1 ? singular : plural);
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

std::string RateLimiter::ExplainSample() const {
  const int64_t size = inserts_ - deletes_;
  if (size < options_.min_size_to_sample) {
    return "Sampling waits for items: the table holds " + std::to_string(size) + " of the " +
           std::to_string(options_.min_size_to_sample) + " it needs (min_size_to_sample).";
  }
  const double diff =
      static_cast<double>(inserts_) * options_.samples_per_insert - static_cast<double>(samples_);
  const std::string numbers =
      "inserts * samples_per_insert - samples = " + std::to_string(inserts_) + " * " +
      NumberText(options_.samples_per_insert) + " - " + std::to_string(samples_) + " = " +
      NumberText(diff);
  if (!CanSample(1)) {
    return "Sampling waits for inserts: " + numbers +
           ", and one more sample would take it below min_diff, " + NumberText(options_.min_diff) +
           ".";
  }
  return "May sample " + Count(std::floor(diff - options_.min_diff), "item", "items") +
         " before the next insert (" + numbers + ").";
}

std::string RateLimiter::ExplainInsert() const {
  const double diff =
      static_cast<double>(inserts_) * options_.samples_per_insert - static_cast<double>(samples_);
  const std::string numbers =
      "inserts * samples_per_insert - samples = " + std::to_string(inserts_) + " * " +
      NumberText(options_.samples_per_insert) + " - " + std::to_string(samples_) + " = " +
      NumberText(diff);
  if (!CanInsert(1)) {
    return "Inserting waits for samples: " + numbers +
           ", and one more insert would take it above max_diff, " + NumberText(options_.max_diff) +
           ".";
  }
  const double by_diff = std::floor((options_.max_diff - diff) / options_.samples_per_insert);
  const double by_size = static_cast<double>(options_.min_size_to_sample - (inserts_ - deletes_));
  return "May insert " + Count(std::fmax(by_diff, by_size), "item", "items") +
         " before the next sample (" + numbers + ").";
}

}  // namespace reverb_tf::core

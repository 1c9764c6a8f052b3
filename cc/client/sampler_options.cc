#include "cc/client/sampler_options.h"

#include <algorithm>
#include <limits>
#include <string>

#include "cc/client/wait.h"

namespace reverb_tf::client {
namespace {

constexpr int64_t kDefaultSamplesPerStream = 10'000;
constexpr int64_t kMaxWorkers = 1024;

Status CheckPositiveOrDefault(const char* name, int64_t value) {
  if (value >= 1 || value == -1) return OkStatus();
  return InvalidArgumentError(std::string(name) + " must be at least 1, or -1, but is " +
                              std::to_string(value) + ".");
}

}  // namespace

Status CheckSamplerOptions(const SamplerOptions& options) {
  REVERB_TF_RETURN_IF_ERROR(CheckPositiveOrDefault("max_samples", options.max_samples));
  REVERB_TF_RETURN_IF_ERROR(CheckPositiveOrDefault("num_workers", options.num_workers));
  REVERB_TF_RETURN_IF_ERROR(
      CheckPositiveOrDefault("max_samples_per_stream", options.max_samples_per_stream));
  if (options.max_in_flight_samples_per_worker < 1) {
    return InvalidArgumentError("max_in_flight_samples_per_worker must be at least 1, but is " +
                                std::to_string(options.max_in_flight_samples_per_worker) + ".");
  }
  if (options.rate_limiter_timeout < Duration::zero()) {
    return InvalidArgumentError("rate_limiter_timeout must not be negative, but is " +
                                DurationText(options.rate_limiter_timeout) + ".");
  }
  if (options.num_workers > kMaxWorkers) {
    return InvalidArgumentError("num_workers must be at most " + std::to_string(kMaxWorkers) +
                                ", but is " + std::to_string(options.num_workers) + ".");
  }
  return OkStatus();
}

int64_t NumWorkers(const SamplerOptions& options) {
  const int64_t wanted = options.num_workers == -1 ? 1 : options.num_workers;
  if (options.max_samples == -1) return wanted;
  const int64_t useful =
      std::max<int64_t>(1, options.max_samples / options.max_in_flight_samples_per_worker);
  return std::min(wanted, useful);
}

int64_t Capacity(const SamplerOptions& options) {
  const int64_t workers = NumWorkers(options);
  const int64_t each = options.max_in_flight_samples_per_worker;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  return each > kMost / workers ? kMost : each * workers;
}

int64_t StreamSamples(const SamplerOptions& options) {
  return options.max_samples_per_stream == -1 ? kDefaultSamplesPerStream
                                              : options.max_samples_per_stream;
}

}  // namespace reverb_tf::client

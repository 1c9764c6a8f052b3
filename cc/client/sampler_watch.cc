// What a sampler says about callers that wait.
#include <chrono>
#include <string>

#include "cc/client/log.h"
#include "cc/client/sampler_core.h"

namespace reverb_tf::client {
namespace {

// The server is asked what it does a little before that is logged.
constexpr auto kAskAfter = std::chrono::seconds(9);
constexpr auto kLogAfterAsking = std::chrono::seconds(1);

}  // namespace

std::string SamplerCore::Describe() {
  std::string what = "Next() waits for a sample of ";
  if (options_.min_version.value_or(0) > 0) {
    what += "version " + std::to_string(*options_.min_version) + " or a later one of ";
  }
  {
    MutexLock lock(&mu_);
    for (const Worker& worker : workers_) {
      if (!worker.pausing) continue;
      return what + "table '" + options_.table + "', but server " + endpoint_->address() +
             " cannot be reached: " + worker.last_cause.message();
    }
  }
  return what + endpoint_->DescribeTable(options_.table, Endpoint::Operation::kSample);
}

void SamplerCore::Watch(bool refreshed) {
  const core::TimePoint when =
      endpoint_->clock()->Now() + (refreshed ? kLogAfterAsking : kAskAfter);
  watch_ = endpoint_->clock()->CallAt(when,
                                      [weak = weak_from_this(), refreshed, number = watch_number_] {
                                        if (const auto self = weak.lock())
                                          self->OnWatch(refreshed, number);
                                      });
}

void SamplerCore::StopWatch() {
  if (watch_ == core::Clock::kNoTimer) return;
  endpoint_->clock()->Cancel(watch_);
  watch_ = core::Clock::kNoTimer;
  ++watch_number_;
}

void SamplerCore::OnWatch(bool refreshed, uint64_t number) {
  {
    MutexLock lock(&mu_);
    if (number != watch_number_) return;
    if (!refreshed) Watch(/*refreshed=*/true);
  }
  if (refreshed) {
    LogWarning("still waiting after 10 s: " + Describe());
  } else {
    endpoint_->RefreshServerInfo();
  }
}

}  // namespace reverb_tf::client

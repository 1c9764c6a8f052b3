#include "cc/ops/least_probability.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reverb_tf::ops {

Result<double> LeastProbability::Of(const std::vector<SampleInfo>& samples,
                                    const std::vector<int>& servers,
                                    const std::function<bool()>& interrupted) {
  std::vector<bool> fresh(clients_.size(), false);
  for (size_t i = 0; i < samples.size(); ++i) {
    const int server = servers[i];
    if (!fresh[server]) REVERB_TF_RETURN_IF_ERROR(Refresh(server, interrupted));
    fresh[server] = true;
  }
  std::lock_guard<std::mutex> lock(mu_);
  for (size_t i = 0; i < samples.size(); ++i) {
    const SampleInfo& info = samples[i];
    Table& table = tables_[servers[i]];
    const SamplerPriorities& priorities = table.priorities;
    table.least = static_cast<double>(info.table_size) * info.probability;
    if (priorities.exponent > 0 && info.priority > priorities.smallest && priorities.smallest > 0)
      table.least *= std::pow(priorities.smallest / info.priority, priorities.exponent);
  }
  double least = HUGE_VAL;
  for (const Table& table : tables_) {
    if (table.least > 0) least = std::min(least, table.least);
  }
  return least;
}

Status LeastProbability::Refresh(int server, const std::function<bool()>& interrupted) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    Table& table = tables_[server];
    const Clock::time_point now = Clock::now();
    if (table.known && now - table.asked_at < kRefreshAfter) return OkStatus();
    table.asked_at = now;
  }
  WaitOptions wait;
  wait.timeout = kTimeout;
  wait.interrupted = interrupted;
  const Result<ServerInfo> info = clients_[server]->GetServerInfo(wait);
  std::lock_guard<std::mutex> lock(mu_);
  Table& table = tables_[server];
  if (!info.ok()) return table.known ? OkStatus() : info.status();
  Result<SamplerPriorities> priorities = GetSamplerPriorities(*info, table_);
  if (!priorities.ok())
    return priorities.status().WithContext("Server " + clients_[server]->address());
  table.priorities = *priorities;
  table.known = true;
  return OkStatus();
}

}  // namespace reverb_tf::ops

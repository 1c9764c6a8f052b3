#include "cc/ops/sampler_pool.h"

#include <utility>

namespace reverb_tf::ops {

Result<std::shared_ptr<Sampler>> SamplerPool::Take(const std::string& table) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    const auto it = idle_.find(table);
    if (it != idle_.end() && !it->second.empty()) {
      std::shared_ptr<Sampler> sampler = std::move(it->second.back());
      it->second.pop_back();
      return sampler;
    }
  }
  SamplerOptions options;
  options.table = table;
  options.max_in_flight_samples_per_worker = kMaxSamples;
  options.num_workers = 1;
  options.on_demand = true;
  options.timesteps = options_.timesteps;
  options.align_arrays = options_.align_arrays;
  options.min_version = 0;
  Result<std::unique_ptr<Sampler>> sampler = client_->NewSampler(options);
  if (!sampler.ok()) return sampler.status();
  return std::shared_ptr<Sampler>(std::move(sampler).value());
}

void SamplerPool::Put(const std::string& table, std::shared_ptr<Sampler> sampler) {
  // A sampler that is not kept is closed outside the lock, as `sampler` goes out of scope.
  std::lock_guard<std::mutex> lock(mu_);
  std::vector<std::shared_ptr<Sampler>>& idle = idle_[table];
  if (idle.size() < kMaxIdle) idle.push_back(std::move(sampler));
}

}  // namespace reverb_tf::ops

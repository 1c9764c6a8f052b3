// Samplers that are used by one call at a time. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_SAMPLER_POOL_H_
#define REVERB_TF_OPS_SAMPLER_POOL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "reverb_tf/client.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"

namespace reverb_tf::ops {

// A call that samples takes a sampler, asks it for what it needs, and puts it back. A sampler keeps
// its stream between calls and requests nothing on its own, so that each call takes exactly what it
// asks for from the table and pays for no connection. Samples say the table's version, if the
// server knows it. One that failed or was closed is not put back.
//
// Thread-safe; nothing here blocks. Shares ownership of the client.
class SamplerPool {
 public:
  // Idle samplers kept for a table: more than that many calls at a time are served too, by samplers
  // that are dropped afterwards.
  static constexpr size_t kMaxIdle = 16;

  // At most so many samples are asked for at a time.
  static constexpr int64_t kMaxSamples = 1 << 20;

  // As in SamplerOptions.
  struct Options {
    bool timesteps = false;
    bool align_arrays = false;
  };

  SamplerPool(std::shared_ptr<Client> client, const Options& options)
      : client_(std::move(client)), options_(options) {}
  SamplerPool(const SamplerPool&) = delete;
  SamplerPool& operator=(const SamplerPool&) = delete;

  Result<std::shared_ptr<Sampler>> Take(const std::string& table);

  // All that it was asked for must have been returned, without an error.
  void Put(const std::string& table, std::shared_ptr<Sampler> sampler);

 private:
  const std::shared_ptr<Client> client_;
  const Options options_;
  std::mutex mu_;
  std::map<std::string, std::vector<std::shared_ptr<Sampler>>> idle_;  // guarded by mu_
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLER_POOL_H_

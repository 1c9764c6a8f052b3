// Samplers that are used for one sample at a time. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_SAMPLER_POOL_H_
#define REVERB_TF_OPS_SAMPLER_POOL_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "reverb_tf/client.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"

namespace reverb_tf::ops {

// A call that samples takes a sampler, asks it for one sample, and puts it back. A sampler keeps
// its stream between calls and requests nothing on its own, so that each call takes exactly one
// item from the table and pays for no connection. Samples say the table's version, if the server
// knows it. One that failed or was closed is not put back.
// Items whose columns differ in their number of steps are errors.
//
// Thread-safe; nothing here blocks. Shares ownership of the client.
class SamplerPool {
 public:
  // Idle samplers kept for a table: more than that many calls at a time are served too, by samplers
  // that are dropped afterwards.
  static constexpr size_t kMaxIdle = 16;

  explicit SamplerPool(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  SamplerPool(const SamplerPool&) = delete;
  SamplerPool& operator=(const SamplerPool&) = delete;

  Result<std::shared_ptr<Sampler>> Take(const std::string& table);

  // The last call of Next or NextAsync must have returned a sample.
  void Put(const std::string& table, std::shared_ptr<Sampler> sampler);

 private:
  const std::shared_ptr<Client> client_;
  std::mutex mu_;
  std::map<std::string, std::vector<std::shared_ptr<Sampler>>> idle_;  // guarded by mu_
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLER_POOL_H_

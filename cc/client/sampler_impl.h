// The sampler that callers hold.
#ifndef REVERB_TF_CLIENT_SAMPLER_IMPL_H_
#define REVERB_TF_CLIENT_SAMPLER_IMPL_H_

#include <memory>
#include <utility>

#include "cc/client/fork_guard.h"
#include "cc/client/sampler_core.h"
#include "reverb_tf/sampler.h"

namespace reverb_tf::client {

// Closes the core with its own end. In a forked child every call fails and the core is leaked.
class SamplerImpl : public Sampler {
 public:
  explicit SamplerImpl(std::shared_ptr<SamplerCore> core) : core_(std::move(core)) {}

  ~SamplerImpl() override {
    Close();
    if (fork_guard_.forked()) new std::shared_ptr<SamplerCore>(std::move(core_));
  }

  Result<Sample> Next(const WaitOptions& wait) override {
    REVERB_TF_RETURN_IF_ERROR(fork_guard_.Check());
    return core_->Next(wait);
  }

  using Sampler::NextAsync;
  void NextAsync(int64_t n, Callback callback) override {
    const Status status = fork_guard_.Check();
    if (status.ok()) return core_->NextAsync(n, std::move(callback));
    for (int64_t i = 0; i < n; ++i) callback(status);
  }

  std::vector<Sample> Take(int64_t n) override {
    return fork_guard_.forked() ? std::vector<Sample>() : core_->Take(n);
  }

  void Close() override {
    if (!fork_guard_.forked()) core_->Close();
  }

 private:
  const ForkGuard fork_guard_;
  std::shared_ptr<SamplerCore> core_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_SAMPLER_IMPL_H_

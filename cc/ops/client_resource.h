// The resource behind a ReverbClient handle.
#ifndef REVERB_TF_OPS_CLIENT_RESOURCE_H_
#define REVERB_TF_OPS_CLIENT_RESOURCE_H_

#include <chrono>
#include <memory>
#include <string>

#include "cc/ops/sampler_pool.h"
#include "reverb_tf/client.h"
#include "tensorflow/core/framework/resource_base.h"

namespace reverb_tf::ops {

// For clients of ops: what is blocked ends soon after its server was stopped, and in the same way
// wherever that was.
inline ClientOptions OpClientOptions() {
  ClientOptions options;
  options.stop_patience = std::chrono::milliseconds(500);
  options.await_local_successor = true;
  return options;
}

// One client, shared by all ops that hold the handle. Calls in flight hold a reference, so that
// deleting the handle does not pull the client away from under them. Creating it does not connect.
class ClientResource : public tensorflow::ResourceBase {
 public:
  explicit ClientResource(const std::string& address)
      : client_(Client::Create(address, OpClientOptions())),
        array_samplers_(client_, {/*timesteps=*/true, /*align_arrays=*/true}),
        step_samplers_(client_, {/*timesteps=*/true, /*align_arrays=*/false}),
        trajectory_samplers_(client_, {/*timesteps=*/false, /*align_arrays=*/false}) {}

  std::string DebugString() const override {
    return "reverb_tf client of the server at " + client_->address();
  }

  Client& client() { return *client_; }
  // Of items that are made of steps, for who wants their first step only or all of them, and of any
  // items.
  SamplerPool& array_samplers() { return array_samplers_; }
  SamplerPool& step_samplers() { return step_samplers_; }
  SamplerPool& trajectory_samplers() { return trajectory_samplers_; }

 private:
  const std::shared_ptr<Client> client_;
  SamplerPool array_samplers_;
  SamplerPool step_samplers_;
  SamplerPool trajectory_samplers_;
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_CLIENT_RESOURCE_H_

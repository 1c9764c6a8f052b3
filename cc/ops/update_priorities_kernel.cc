// Kernel of ReverbClientUpdatePriorities.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/async_call.h"
#include "cc/ops/client_resource.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/client.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::Tensor;

absl::Status ReadUpdates(const Tensor& keys, const Tensor& priorities,
                         std::vector<KeyWithPriority>* updates) {
  if (keys.dims() != 1) {
    return absl::InvalidArgumentError("keys must be a vector, got shape " +
                                      keys.shape().DebugString());
  }
  if (priorities.shape() != keys.shape()) {
    return absl::InvalidArgumentError("keys and priorities must have the same shape, got " +
                                      keys.shape().DebugString() + " and " +
                                      priorities.shape().DebugString());
  }
  const auto key_values = keys.vec<uint64_t>();
  const auto priority_values = priorities.vec<double>();
  updates->reserve(key_values.size());
  for (int64_t i = 0; i < key_values.size(); ++i)
    updates->push_back({key_values(i), priority_values(i)});
  return absl::OkStatus();
}

class UpdatePrioritiesKernel : public tensorflow::AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto resource = std::make_shared<tensorflow::core::RefCountPtr<ClientResource>>();
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), resource.get()),
        done);
    std::string table;
    OP_REQUIRES_OK_ASYNC(ctx, ReadTableName(ctx->input(1), &table), done);
    std::vector<KeyWithPriority> updates;
    OP_REQUIRES_OK_ASYNC(ctx, ReadUpdates(ctx->input(2), ctx->input(3), &updates), done);

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) return;
    std::function<void()> cancel = (*resource)->client().MutatePrioritiesAsync(
        table, std::move(updates), {}, [call, resource](Status status) {
          if (!call->Claim()) return;
          resource->reset();
          call->Finish(ToTf(status));
        });
    call->SetStop(std::move(cancel));
  }
};

REGISTER_KERNEL_BUILDER(Name("ReverbClientUpdatePriorities").Device(tensorflow::DEVICE_CPU),
                        UpdatePrioritiesKernel);

}  // namespace
}  // namespace reverb_tf::ops

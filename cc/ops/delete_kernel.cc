// Kernel of ReverbClientDelete.
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

// Of a server that does not say how many items a deletion found.
constexpr int64_t kUnknownCount = -1;

// One deletion: the call that tells the number, and that of every server where the first is
// missing.
struct Deletion {
  std::shared_ptr<AsyncCall> call;
  tensorflow::core::RefCountPtr<ClientResource> resource;
  std::string table;
  std::vector<uint64_t> keys;

  void Finish(const Status& status, int64_t count) {
    if (!call->Claim()) return;
    resource.reset();
    Tensor* output = nullptr;
    absl::Status result = ToTf(status);
    if (result.ok()) {
      result = call->context()->allocate_output(0, tensorflow::TensorShape({}), &output);
    }
    if (result.ok()) output->scalar<int64_t>()() = count;
    call->Finish(result);
  }
};

void Start(const std::shared_ptr<Deletion>& deletion) {
  // Not of the resource, which the answer releases, perhaps before the calls below return.
  const std::shared_ptr<Client> client = deletion->resource->client().shared_from_this();
  std::function<void()> cancel = client->DeleteAsync(
      deletion->table, deletion->keys, [deletion, client](Result<int64_t> count) {
        if (count.status().code() != StatusCode::kUnimplemented) {
          deletion->Finish(count.status(), count.ok() ? *count : 0);
          return;
        }
        // dm-reverb's server. The op is cancelled without this call, which goes on then.
        client->MutatePrioritiesAsync(
            deletion->table, {}, deletion->keys,
            [deletion](Status status) { deletion->Finish(status, kUnknownCount); });
      });
  deletion->call->SetStop(std::move(cancel));
}

class DeleteKernel : public tensorflow::AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto deletion = std::make_shared<Deletion>();
    OP_REQUIRES_OK_ASYNC(
        ctx,
        tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &deletion->resource),
        done);
    OP_REQUIRES_OK_ASYNC(ctx, ReadTableName(ctx->input(1), &deletion->table), done);
    const Tensor& keys = ctx->input(2);
    OP_REQUIRES_ASYNC(ctx, keys.dims() == 1,
                      absl::InvalidArgumentError("keys must be a vector, got shape " +
                                                 keys.shape().DebugString()),
                      done);
    const auto values = keys.vec<uint64_t>();
    deletion->keys.assign(values.data(), values.data() + values.size());
    deletion->call = AsyncCall::Start(ctx, std::move(done));
    if (deletion->call != nullptr) Start(deletion);
  }
};

REGISTER_KERNEL_BUILDER(Name("ReverbClientDelete").Device(tensorflow::DEVICE_CPU), DeleteKernel);

}  // namespace
}  // namespace reverb_tf::ops

// Kernel of ReverbClientInsertBatch.
#include <algorithm>
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

absl::Status WriteKeys(OpKernelContext* ctx, const std::vector<uint64_t>& keys) {
  Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(ctx->allocate_output(
      0, tensorflow::TensorShape({static_cast<int64_t>(keys.size())}), &output));
  std::copy(keys.begin(), keys.end(), output->vec<uint64_t>().data());
  return absl::OkStatus();
}

class InsertBatchKernel : public tensorflow::AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto resource = std::make_shared<tensorflow::core::RefCountPtr<ClientResource>>();
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), resource.get()),
        done);
    const int num_data = ctx->num_inputs() - 3;
    std::string table;
    OP_REQUIRES_OK_ASYNC(ctx, ReadTableName(ctx->input(1 + num_data), &table), done);
    const Tensor& priorities = ctx->input(2 + num_data);
    OP_REQUIRES_ASYNC(ctx, priorities.dims() == 1,
                      absl::InvalidArgumentError("priorities must be a vector, got shape " +
                                                 priorities.shape().DebugString()),
                      done);
    const auto values = priorities.vec<double>();
    // The tensors are held: a cancellation may end the step while the client still copies them.
    std::vector<Tensor> data;
    data.reserve(num_data);
    TensorViews views;
    for (int i = 0; i < num_data; ++i) {
      data.push_back(ctx->input(1 + i));
      views.Add(data.back());
    }

    std::vector<double> copied(values.data(), values.data() + values.size());
    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) return;
    std::function<void()> cancel = (*resource)->client().InsertBatchAsync(
        views.data(), views.size(), table, std::move(copied),
        [call, resource](Result<std::vector<uint64_t>> keys) {
          if (!call->Claim()) return;
          resource->reset();
          call->Finish(keys.ok() ? WriteKeys(call->context(), *keys) : ToTf(keys.status()));
        });
    call->SetStop(std::move(cancel));
  }
};

REGISTER_KERNEL_BUILDER(Name("ReverbClientInsertBatch").Device(tensorflow::DEVICE_CPU),
                        InsertBatchKernel);

}  // namespace
}  // namespace reverb_tf::ops

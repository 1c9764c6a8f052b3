// Kernel of ReverbClientInsert.
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

absl::Status ReadTargets(const Tensor& tables, const Tensor& priorities,
                         std::vector<TableAndPriority>* targets) {
  if (tables.dims() != 1) {
    return absl::InvalidArgumentError("tables must be a vector, got shape " +
                                      tables.shape().DebugString());
  }
  if (priorities.shape() != tables.shape()) {
    return absl::InvalidArgumentError("tables and priorities must have the same shape, got " +
                                      tables.shape().DebugString() + " and " +
                                      priorities.shape().DebugString());
  }
  const auto names = tables.vec<tensorflow::tstring>();
  const auto values = priorities.vec<double>();
  targets->reserve(names.size());
  for (int64_t i = 0; i < names.size(); ++i) targets->push_back({std::string(names(i)), values(i)});
  return absl::OkStatus();
}

class InsertKernel : public tensorflow::AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto resource = std::make_shared<tensorflow::core::RefCountPtr<ClientResource>>();
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), resource.get()),
        done);
    std::vector<TableAndPriority> targets;
    const int num_data = ctx->num_inputs() - 3;
    OP_REQUIRES_OK_ASYNC(
        ctx, ReadTargets(ctx->input(1 + num_data), ctx->input(2 + num_data), &targets), done);
    // A cancellation may end the step while the client still reads them.
    auto data = std::make_shared<std::vector<Tensor>>();
    data->reserve(num_data);
    TensorViews views;
    for (int i = 0; i < num_data; ++i) {
      data->push_back(ctx->input(1 + i));
      views.Add(data->back());
    }

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) return;
    std::function<void()> cancel =
        (*resource)->client().InsertAsync(views.data(), views.size(), std::move(targets), data,
                                          [call, resource](Result<std::vector<uint64_t>> keys) {
                                            if (!call->Claim()) return;
                                            resource->reset();
                                            call->Finish(ToTf(keys.status()));
                                          });
    call->SetStop(std::move(cancel));
  }
};

REGISTER_KERNEL_BUILDER(Name("ReverbClientInsert").Device(tensorflow::DEVICE_CPU), InsertKernel);

}  // namespace
}  // namespace reverb_tf::ops

// Kernel of ReverbVariablePush.
#include <functional>
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

class VariablePushKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit VariablePushKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &shapes_));
    const int num_values = ctx->num_inputs() - 2;
    OP_REQUIRES(
        ctx, static_cast<int>(shapes_.size()) == num_values,
        absl::InvalidArgumentError("shapes has " + std::to_string(shapes_.size()) +
                                   " entries; expected " + std::to_string(num_values) + "."));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    auto resource = std::make_shared<tensorflow::core::RefCountPtr<ClientResource>>();
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), resource.get()),
        done);
    const Tensor& table = ctx->input(1);
    OP_REQUIRES_ASYNC(ctx, tensorflow::TensorShapeUtils::IsScalar(table.shape()),
                      absl::InvalidArgumentError("table must be a scalar, got shape " +
                                                 table.shape().DebugString()),
                      done);
    OP_REQUIRES_OK_ASYNC(ctx, CheckShapes(ctx), done);
    // A cancellation may end the step while the client still reads them.
    auto values = std::make_shared<std::vector<Tensor>>();
    values->reserve(shapes_.size());
    TensorViews views;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      values->push_back(ctx->input(2 + static_cast<int>(i)));
      views.Add(values->back());
    }
    std::vector<TableAndPriority> targets = {
        {std::string(table.scalar<tensorflow::tstring>()()), 1.0}};

    std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
    if (call == nullptr) return;
    std::function<void()> cancel =
        (*resource)->client().InsertAsync(views.data(), views.size(), std::move(targets), values,
                                          [call, resource](Result<std::vector<uint64_t>> keys) {
                                            if (!call->Claim()) return;
                                            resource->reset();
                                            call->Finish(ToTf(keys.status()));
                                          });
    call->SetStop(std::move(cancel));
  }

 private:
  absl::Status CheckShapes(OpKernelContext* ctx) const {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const tensorflow::TensorShape& shape = ctx->input(2 + static_cast<int>(i)).shape();
      if (shapes_[i].IsCompatibleWith(shape)) continue;
      return absl::InvalidArgumentError("Variable " + std::to_string(i) + " has shape " +
                                        shape.DebugString() + "; the signature of the table says " +
                                        shapes_[i].DebugString() + ".");
    }
    return absl::OkStatus();
  }

  std::vector<tensorflow::PartialTensorShape> shapes_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbVariablePush").Device(tensorflow::DEVICE_CPU),
                        VariablePushKernel);

}  // namespace
}  // namespace reverb_tf::ops

// Kernel of ReverbClient.
#include <string>

#include "cc/ops/client_resource.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_op_kernel.h"

namespace reverb_tf::ops {
namespace {

class ClientKernel : public tensorflow::ResourceOpKernel<ClientResource> {
 public:
  explicit ClientKernel(tensorflow::OpKernelConstruction* ctx) : ResourceOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("server_address", &server_address_));
  }

 private:
  absl::Status CreateResource(ClientResource** resource) override {
    *resource = new ClientResource(server_address_);
    return absl::OkStatus();
  }

  absl::Status VerifyResource(ClientResource* resource) override {
    if (resource->client().address() == server_address_) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "The shared client is one of the server at '" + resource->client().address() +
        "', not of '" + server_address_ +
        "'. Expected another shared_name or the same server_address.");
  }

  std::string server_address_;
};

REGISTER_KERNEL_BUILDER(Name("ReverbClient").Device(tensorflow::DEVICE_CPU), ClientKernel);

}  // namespace
}  // namespace reverb_tf::ops

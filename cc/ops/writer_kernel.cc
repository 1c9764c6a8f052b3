// Kernels of ReverbTrajectoryWriter and ReverbTrajectoryWriterClose.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cc/ops/client_resource.h"
#include "cc/ops/requested_spec.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "cc/ops/writer_call.h"
#include "cc/ops/writer_resource.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_op_kernel.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelConstruction;
using ::tensorflow::OpKernelContext;

absl::Status ReadColumns(OpKernelConstruction* ctx, std::vector<TensorSpec>* columns) {
  std::vector<tensorflow::DataType> dtypes;
  std::vector<tensorflow::PartialTensorShape> shapes;
  std::vector<std::string> paths;
  TF_RETURN_IF_ERROR(ctx->GetAttr("dtypes", &dtypes));
  TF_RETURN_IF_ERROR(ctx->GetAttr("shapes", &shapes));
  TF_RETURN_IF_ERROR(ctx->GetAttr("paths", &paths));
  if (shapes.size() != dtypes.size() || paths.size() != dtypes.size()) {
    return absl::InvalidArgumentError(
        "dtypes, shapes and paths must have an entry for each column, got " +
        std::to_string(dtypes.size()) + ", " + std::to_string(shapes.size()) + " and " +
        std::to_string(paths.size()) + ".");
  }
  for (size_t i = 0; i < dtypes.size(); ++i) {
    columns->push_back(FromTf(dtypes[i], shapes[i]));
    columns->back().name = paths[i];
  }
  return absl::OkStatus();
}

absl::Status ReadConfig(OpKernelConstruction* ctx, WriterConfig* config) {
  TF_RETURN_IF_ERROR(ctx->GetAttr("server_address", &config->address));
  TF_RETURN_IF_ERROR(ReadColumns(ctx, &config->columns));
  TF_RETURN_IF_ERROR(ctx->GetAttr("batch_size", &config->batch_size));
  if (config->batch_size == 0 || config->batch_size < -1) {
    return absl::InvalidArgumentError("batch_size must be >= 1, or -1, got " +
                                      std::to_string(config->batch_size));
  }
  float patience = 0;
  TF_RETURN_IF_ERROR(ctx->GetAttr("patience", &patience));
  if (!(patience >= 0)) {
    return absl::InvalidArgumentError("patience must be >= 0 seconds, got " +
                                      std::to_string(patience));
  }
  config->client = OpClientOptions();
  config->client.patience =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(patience, 1e9f)));
  config->writer.lazy_signatures = true;
  TF_RETURN_IF_ERROR(ctx->GetAttr("validate_items", &config->writer.validate_items));
  ChunkerOptions& chunker = config->writer.chunker;
  TF_RETURN_IF_ERROR(ctx->GetAttr("num_keep_alive_refs", &chunker.num_keep_alive_refs));
  return ctx->GetAttr("max_chunk_length", &chunker.max_chunk_length);
}

// Whether one writer can stand for both.
bool SameColumns(const WriterConfig& a, const WriterConfig& b) {
  if (a.batch_size != b.batch_size || a.columns.size() != b.columns.size()) return false;
  for (size_t i = 0; i < a.columns.size(); ++i) {
    if (SpecString(a.columns[i]) != SpecString(b.columns[i])) return false;
  }
  return true;
}

class WriterKernel : public tensorflow::ResourceOpKernel<WriterResource> {
 public:
  explicit WriterKernel(OpKernelConstruction* ctx) : ResourceOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadConfig(ctx, &config_));
  }

 private:
  absl::Status CreateResource(WriterResource** resource) override {
    return WriterResource::Create(config_, resource);
  }

  absl::Status VerifyResource(WriterResource* resource) override {
    const WriterConfig& other = resource->config();
    if (other.address == config_.address && SameColumns(other, config_)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "The shared writer is one to the server at '" + other.address +
        "' with another step, batch size or address than the one that was asked for ('" +
        config_.address + "'). Expected another shared_name or the same writer.");
  }

  WriterConfig config_;
};

// Does not take a turn: it ends what may be waiting in one.
class CloseKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    WriterPtr writer;
    OP_REQUIRES_OK(ctx,
                   tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &writer));
    writer->Close();
  }
};

REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryWriter").Device(tensorflow::DEVICE_CPU),
                        WriterKernel);
REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryWriterClose").Device(tensorflow::DEVICE_CPU),
                        CloseKernel);

}  // namespace
}  // namespace reverb_tf::ops

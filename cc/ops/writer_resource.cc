#include "cc/ops/writer_resource.h"

#include <utility>

#include "cc/ops/tf_convert.h"
#include "tensorflow/core/framework/resource_handle.h"

namespace reverb_tf::ops {

using ::tensorflow::Tensor;

absl::Status WriterResource::Create(const WriterConfig& config, WriterResource** resource) {
  tensorflow::core::RefCountPtr<WriterResource> created(new WriterResource(config));
  created->client_ = Client::Create(config.address, config.client);
  const int64_t n = config.batched() ? config.batch_size : 1;
  for (int64_t i = 0; i < n; ++i) {
    Result<std::unique_ptr<TrajectoryWriter>> writer =
        created->client_->NewTrajectoryWriter(config.writer, WaitOptions());
    if (!writer.ok()) return ToTf(writer.status());
    created->environments_.push_back(
        {std::move(writer).value(), StepHistory(static_cast<int32_t>(config.columns.size()),
                                                config.writer.chunker.num_keep_alive_refs)});
  }
  *resource = created.release();
  return absl::OkStatus();
}

void WriterResource::Close() {
  for (Environment& environment : environments_) environment.writer->Close();
}

absl::Status WriterResource::CheckMask(const Tensor& mask) const {
  const bool fits = config_.batched() ? mask.dims() == 1 && mask.dim_size(0) == config_.batch_size
                                      : mask.dims() == 0;
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "mask must have shape " +
      (config_.batched() ? "[" + std::to_string(config_.batch_size) + "] (one for each environment)"
                         : std::string("[]")) +
      ", got " + mask.shape().DebugString());
}

absl::Status WriterResource::CheckScalars(const char* name, const Tensor& values) const {
  if (values.dims() == 0) return absl::OkStatus();
  if (config_.batched() && values.dims() == 1 && values.dim_size(0) == config_.batch_size) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(std::string(name) + " must be a scalar" +
                                    (config_.batched()
                                         ? " or have shape [" + std::to_string(config_.batch_size) +
                                               "] (one for each environment)"
                                         : "") +
                                    ", got shape " + values.shape().DebugString());
}

Status WriterResource::InEnvironment(size_t environment, const Status& status) const {
  if (status.ok() || !config_.batched()) return status;
  return status.WithContext("Environment " + std::to_string(environment));
}

}  // namespace reverb_tf::ops

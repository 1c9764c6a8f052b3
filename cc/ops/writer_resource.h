// The resource behind a ReverbTrajectoryWriter handle.
#ifndef REVERB_TF_OPS_WRITER_RESOURCE_H_
#define REVERB_TF_OPS_WRITER_RESOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cc/ops/serial_queue.h"
#include "cc/ops/step_history.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/client.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/trajectory_writer.h"
#include "tensorflow/core/framework/resource_base.h"
#include "tensorflow/core/framework/tensor.h"

namespace reverb_tf::ops {

struct WriterConfig {
  std::string address;
  std::vector<TensorSpec> columns;  // of a step, without the axis of environments; named by path
  int64_t batch_size = -1;          // -1: one environment, and no axis of them
  ClientOptions client;
  TrajectoryWriterOptions writer;

  bool batched() const { return batch_size >= 0; }
};

// One writer for each environment, all of one client. Ops in flight hold a reference. Creating it
// does not connect; what is unconfirmed when the last reference goes is dropped.
//
// Of the environments only Close() is thread-safe: everything else is for jobs of the queue.
class WriterResource : public tensorflow::ResourceBase {
 public:
  struct Environment {
    std::unique_ptr<TrajectoryWriter> writer;
    StepHistory history;
  };

  // INVALID_ARGUMENT: an option is not as ChunkerOptions says.
  static absl::Status Create(const WriterConfig& config, WriterResource** resource);

  std::string DebugString() const override {
    return "reverb_tf trajectory writer to the server at " + config_.address;
  }

  const WriterConfig& config() const { return config_; }
  SerialQueue& queue() { return queue_; }
  std::vector<Environment>& environments() { return environments_; }

  // Ends the streams without flushing; later calls end with CANCELLED.
  void Close();

  // INVALID_ARGUMENT unless it is a bool for each environment.
  absl::Status CheckMask(const tensorflow::Tensor& mask) const;
  // INVALID_ARGUMENT unless it is a scalar or has a value for each environment.
  absl::Status CheckScalars(const char* name, const tensorflow::Tensor& values) const;
  // The status with the environment's number before it, if there are several.
  Status InEnvironment(size_t environment, const Status& status) const;

 private:
  explicit WriterResource(const WriterConfig& config) : config_(config) {}

  const WriterConfig config_;
  std::shared_ptr<Client> client_;
  std::vector<Environment> environments_;
  SerialQueue queue_;
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_WRITER_RESOURCE_H_

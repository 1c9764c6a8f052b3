// The tf.data datasets of what is sampled from a table.
#ifndef REVERB_TF_OPS_SAMPLE_DATASET_H_
#define REVERB_TF_OPS_SAMPLE_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "cc/ops/table_dataset.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/client.h"
#include "reverb_tf/tensor.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// What an element is.
enum class ElementKind { kTrajectory, kTimestep };

// The attributes of the ops.
struct SampleDatasetOptions {
  int64_t max_in_flight_samples_per_worker = 100;
  int64_t num_workers_per_iterator = -1;
  int64_t max_samples_per_stream = -1;
  int64_t rate_limiter_timeout_ms = -1;
  int64_t max_samples = -1;
  tensorflow::DataTypeVector dtypes;  // five of the info, then the data
  std::vector<tensorflow::PartialTensorShape> shapes;
};

// INVALID_ARGUMENT names the option, what was given and what was expected.
absl::Status Validate(const SampleDatasetOptions& options);

// Owns one client, which all its iterators share. Making it does not connect.
class SampleDataset : public TableDataset {
 public:
  // `options` are valid.
  SampleDataset(tensorflow::OpKernelContext* ctx, ElementKind kind,
                const std::string& server_address, std::string table, SampleDatasetOptions options);

  ElementKind kind() const { return kind_; }
  const std::string& table() const { return table_; }
  const SampleDatasetOptions& options() const { return options_; }
  Client& client() const { return *client_; }
  // Dtypes and shapes of the data.
  std::vector<TensorSpec> RequestedData() const {
    return DataSpecs(options_.dtypes, options_.shapes);
  }

  std::unique_ptr<tensorflow::data::IteratorBase> MakeIteratorInternal(
      const std::string& prefix) const override;
  const tensorflow::DataTypeVector& output_dtypes() const override { return options_.dtypes; }
  const std::vector<tensorflow::PartialTensorShape>& output_shapes() const override {
    return options_.shapes;
  }
  std::string DebugString() const override;

 protected:
  absl::Status AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                  DatasetGraphDefBuilder* b,
                                  tensorflow::Node** output) const override;

 private:
  const ElementKind kind_;
  const std::string table_;
  const SampleDatasetOptions options_;
  const std::shared_ptr<Client> client_;
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLE_DATASET_H_

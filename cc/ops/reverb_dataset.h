// The tf.data dataset of batches of trajectories from one or many servers.
#ifndef REVERB_TF_OPS_REVERB_DATASET_H_
#define REVERB_TF_OPS_REVERB_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "cc/ops/batch_builder.h"
#include "cc/ops/beta.h"
#include "cc/ops/table_dataset.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/client.h"
#include "reverb_tf/sampler.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// Whether there are importance weights, and what the largest one belongs to.
enum class Weights { kNone, kBatch, kTable };

// The attributes of the op.
struct ReverbDatasetOptions {
  int64_t batch_size = -1;  // -1: elements are single trajectories
  bool drop_remainder = false;
  Varying varying = Varying::kError;
  Weights weights = Weights::kNone;
  int64_t num_workers = 1;             // of each server
  int64_t max_in_flight = -1;          // of each server
  int64_t max_staleness_samples = -1;  // -1: no bound
  int64_t max_staleness_us = -1;       // -1: no bound
  int64_t max_samples_per_stream = -1;
  int64_t rate_limiter_timeout_ms = -1;
  int64_t max_samples = -1;
  tensorflow::DataTypeVector dtypes;  // of one trajectory: five of the info, then the data
  std::vector<tensorflow::PartialTensorShape> shapes;
};

// INVALID_ARGUMENT names the option, what was given and what was expected.
absl::Status Validate(const ReverbDatasetOptions& options);

// Owns a client for each server, which all its iterators share. Making it does not connect.
class ReverbDataset : public TableDataset {
 public:
  // `options` are valid, `layout` is made of them, `addresses` is not empty.
  ReverbDataset(tensorflow::OpKernelContext* ctx, std::vector<tensorflow::tstring> addresses,
                std::string table, Beta beta, ReverbDatasetOptions options, BatchLayout layout);

  const ReverbDatasetOptions& options() const { return options_; }
  const BatchLayout& layout() const { return layout_; }
  const Beta& beta() const { return beta_; }
  const std::string& table() const { return table_; }
  const std::vector<std::shared_ptr<Client>>& clients() const { return clients_; }
  // Of the sampler of one server, without what samples are checked against. A bound on staleness in
  // samples is shared by the servers; one that leaves them less than two each makes the samplers
  // take samples only on demand.
  SamplerOptions MakeSamplerOptions() const;

  std::unique_ptr<tensorflow::data::IteratorBase> MakeIteratorInternal(
      const std::string& prefix) const override;
  const tensorflow::DataTypeVector& output_dtypes() const override { return output_dtypes_; }
  const std::vector<tensorflow::PartialTensorShape>& output_shapes() const override {
    return output_shapes_;
  }
  std::string DebugString() const override;
  int64_t CardinalityInternal(tensorflow::data::CardinalityOptions options) const override;

 protected:
  absl::Status AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                  DatasetGraphDefBuilder* b,
                                  tensorflow::Node** output) const override;

 private:
  void SetOutputs();

  const std::vector<tensorflow::tstring> addresses_;
  const std::string table_;
  const Beta beta_;
  const ReverbDatasetOptions options_;
  const BatchLayout layout_;
  std::vector<std::shared_ptr<Client>> clients_;
  tensorflow::DataTypeVector output_dtypes_;
  std::vector<tensorflow::PartialTensorShape> output_shapes_;
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_REVERB_DATASET_H_

#include "cc/ops/sample_dataset.h"

#include <utility>

#include "cc/ops/client_resource.h"
#include "cc/ops/sample_options.h"
#include "cc/ops/timestep_iterator.h"
#include "cc/ops/trajectory_iterator.h"

namespace reverb_tf::ops {

absl::Status Validate(const SampleDatasetOptions& options) {
  TF_RETURN_IF_ERROR(CheckOption("max_in_flight_samples_per_worker",
                                 options.max_in_flight_samples_per_worker, false));
  TF_RETURN_IF_ERROR(
      CheckOption("num_workers_per_iterator", options.num_workers_per_iterator, true));
  TF_RETURN_IF_ERROR(CheckOption("max_samples_per_stream", options.max_samples_per_stream, true));
  TF_RETURN_IF_ERROR(CheckOption("max_samples", options.max_samples, true));
  return CheckComponents(options.dtypes, options.shapes);
}

SampleDataset::SampleDataset(tensorflow::OpKernelContext* ctx, ElementKind kind,
                             const std::string& server_address, std::string table,
                             SampleDatasetOptions options)
    : TableDataset(tensorflow::data::DatasetContext(ctx)),
      kind_(kind),
      table_(std::move(table)),
      options_(std::move(options)),
      client_(Client::Create(server_address, OpClientOptions())) {}

std::unique_ptr<tensorflow::data::IteratorBase> SampleDataset::MakeIteratorInternal(
    const std::string& prefix) const {
  return kind_ == ElementKind::kTimestep
             ? MakeTimestepIterator(this, prefix + "::ReverbTimestepDataset")
             : MakeTrajectoryIterator(this, prefix + "::ReverbDataset");
}

std::string SampleDataset::DebugString() const {
  return type_string() + " of table '" + table_ + "' of the server at " + client_->address();
}

absl::Status SampleDataset::AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                               DatasetGraphDefBuilder* b,
                                               tensorflow::Node** output) const {
  tensorflow::Node* server_address = nullptr;
  tensorflow::Node* table = nullptr;
  TF_RETURN_IF_ERROR(b->AddScalar(tensorflow::tstring(client_->address()), &server_address));
  TF_RETURN_IF_ERROR(b->AddScalar(tensorflow::tstring(table_), &table));
  Attributes attributes(b);
  attributes.Add("max_in_flight_samples_per_worker", options_.max_in_flight_samples_per_worker);
  attributes.Add("num_workers_per_iterator", options_.num_workers_per_iterator);
  attributes.Add("max_samples_per_stream", options_.max_samples_per_stream);
  attributes.Add("rate_limiter_timeout_ms", options_.rate_limiter_timeout_ms);
  attributes.Add("max_samples", options_.max_samples);
  attributes.Add("dtypes", options_.dtypes);
  attributes.Add("shapes", options_.shapes);
  return b->AddDataset(this, {{0, server_address}, {1, table}}, {}, attributes.list(), output);
}

}  // namespace reverb_tf::ops

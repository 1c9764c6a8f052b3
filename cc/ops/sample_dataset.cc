#include "cc/ops/sample_dataset.h"

#include <utility>

#include "cc/ops/tf_convert.h"
#include "cc/ops/timestep_iterator.h"
#include "cc/ops/trajectory_iterator.h"

namespace reverb_tf::ops {

using ::tensorflow::data::DatasetBase;

namespace {

absl::Status CheckOption(const char* name, int64_t value, bool allow_default) {
  if (value >= 1 || (allow_default && value == -1)) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(name) + " must be an integer >= 1" +
                                    (allow_default ? " or -1" : "") + ", got " +
                                    std::to_string(value) + ".");
}

}  // namespace

absl::Status Validate(const SampleDatasetOptions& options) {
  TF_RETURN_IF_ERROR(CheckOption("max_in_flight_samples_per_worker",
                                 options.max_in_flight_samples_per_worker, false));
  TF_RETURN_IF_ERROR(
      CheckOption("num_workers_per_iterator", options.num_workers_per_iterator, true));
  TF_RETURN_IF_ERROR(CheckOption("max_samples_per_stream", options.max_samples_per_stream, true));
  TF_RETURN_IF_ERROR(CheckOption("max_samples", options.max_samples, true));
  if (options.dtypes.size() != options.shapes.size() || options.dtypes.size() < kNumInfoTensors) {
    return absl::InvalidArgumentError(
        "dtypes and shapes must have the same number of entries, the " +
        std::to_string(kNumInfoTensors) + " of the sample info and then those of the data; got " +
        std::to_string(options.dtypes.size()) + " and " + std::to_string(options.shapes.size()) +
        ".");
  }
  const tensorflow::DataTypeVector info = {tensorflow::DT_UINT64, tensorflow::DT_DOUBLE,
                                           tensorflow::DT_INT64, tensorflow::DT_DOUBLE,
                                           tensorflow::DT_INT32};
  for (size_t i = 0; i < kNumInfoTensors; ++i) {
    if (options.dtypes[i] == info[i] &&
        options.shapes[i].IsCompatibleWith(tensorflow::TensorShape({})))
      continue;
    return absl::InvalidArgumentError("Component " + std::to_string(i) +
                                      " of the sample info is a scalar " +
                                      tensorflow::DataTypeString(info[i]) + "; requested was " +
                                      tensorflow::DataTypeString(options.dtypes[i]) + " " +
                                      options.shapes[i].DebugString() + ".");
  }
  return absl::OkStatus();
}

SampleDataset::SampleDataset(tensorflow::OpKernelContext* ctx, ElementKind kind,
                             const std::string& server_address, std::string table,
                             SampleDatasetOptions options)
    : DatasetBase(tensorflow::data::DatasetContext(ctx)),
      kind_(kind),
      table_(std::move(table)),
      options_(std::move(options)),
      client_(Client::Create(server_address)) {}

std::vector<TensorSpec> SampleDataset::RequestedData() const {
  std::vector<TensorSpec> data;
  for (size_t i = kNumInfoTensors; i < options_.dtypes.size(); ++i) {
    data.push_back(FromTf(options_.dtypes[i], options_.shapes[i]));
  }
  return data;
}

std::unique_ptr<tensorflow::data::IteratorBase> SampleDataset::MakeIteratorInternal(
    const std::string& prefix) const {
  return kind_ == ElementKind::kTimestep
             ? MakeTimestepIterator(this, prefix + "::ReverbTimestepDataset")
             : MakeTrajectoryIterator(this, prefix + "::ReverbDataset");
}

std::string SampleDataset::DebugString() const {
  return type_string() + " of table '" + table_ + "' of the server at " + client_->address();
}

absl::Status SampleDataset::InputDatasets(std::vector<const DatasetBase*>* inputs) const {
  inputs->clear();
  return absl::OkStatus();
}

absl::Status SampleDataset::CheckExternalState() const {
  return absl::FailedPreconditionError(DebugString() +
                                       " depends on external state: the table on the server.");
}

absl::Status SampleDataset::AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                               DatasetGraphDefBuilder* b,
                                               tensorflow::Node** output) const {
  tensorflow::Node* server_address = nullptr;
  tensorflow::Node* table = nullptr;
  TF_RETURN_IF_ERROR(b->AddScalar(tensorflow::tstring(client_->address()), &server_address));
  TF_RETURN_IF_ERROR(b->AddScalar(tensorflow::tstring(table_), &table));
  std::vector<std::pair<absl::string_view, tensorflow::AttrValue>> attrs;
  const auto add = [b, &attrs](absl::string_view name, const auto& value) {
    attrs.emplace_back(name, tensorflow::AttrValue());
    b->BuildAttrValue(value, &attrs.back().second);
  };
  add("max_in_flight_samples_per_worker", options_.max_in_flight_samples_per_worker);
  add("num_workers_per_iterator", options_.num_workers_per_iterator);
  add("max_samples_per_stream", options_.max_samples_per_stream);
  add("rate_limiter_timeout_ms", options_.rate_limiter_timeout_ms);
  add("max_samples", options_.max_samples);
  add("dtypes", options_.dtypes);
  add("shapes", options_.shapes);
  return b->AddDataset(this, {{0, server_address}, {1, table}}, {}, attrs, output);
}

}  // namespace reverb_tf::ops

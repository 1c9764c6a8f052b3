#include "cc/ops/reverb_dataset.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cc/ops/client_resource.h"
#include "cc/ops/reverb_dataset_names.h"
#include "cc/ops/reverb_iterator.h"
#include "cc/ops/sample_options.h"
#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {

using ::tensorflow::PartialTensorShape;

namespace {

// Samples in flight of a server where nothing is said: two batches, or so many trajectories.
constexpr int64_t kBatchesInFlight = 2;
constexpr int64_t kTrajectoriesInFlight = 16;
// One of several servers that cannot be reached for so long is lost, until it is tried again.
constexpr Duration kPatienceWithOneOfSeveral = std::chrono::seconds(2);

absl::Status CheckNotNegative(const char* name, int64_t value) {
  if (value >= -1) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(name) + " must be an integer >= 0 or -1, got " +
                                    std::to_string(value) + ".");
}

int64_t MaxInFlight(const ReverbDatasetOptions& options) {
  if (options.max_in_flight != -1) return options.max_in_flight;
  return options.batch_size == -1 ? kTrajectoriesInFlight : kBatchesInFlight * options.batch_size;
}

// How many rows an element has: -1: it depends.
int64_t StaticRows(const ReverbDatasetOptions& options) {
  const bool all_full =
      options.rate_limiter_timeout_ms == -1 &&
      (options.max_samples == -1 || options.max_samples % options.batch_size == 0);
  return options.drop_remainder || all_full ? options.batch_size : -1;
}

}  // namespace

absl::Status Validate(const ReverbDatasetOptions& options) {
  TF_RETURN_IF_ERROR(CheckOption("batch_size", options.batch_size, true));
  TF_RETURN_IF_ERROR(CheckOption("num_workers", options.num_workers, false));
  TF_RETURN_IF_ERROR(CheckOption("max_in_flight", options.max_in_flight, true));
  TF_RETURN_IF_ERROR(CheckOption("max_samples_per_stream", options.max_samples_per_stream, true));
  TF_RETURN_IF_ERROR(CheckOption("max_samples", options.max_samples, true));
  TF_RETURN_IF_ERROR(CheckNotNegative("max_staleness_samples", options.max_staleness_samples));
  TF_RETURN_IF_ERROR(CheckOption("max_staleness_us", options.max_staleness_us, true));
  TF_RETURN_IF_ERROR(CheckNotNegative("rate_limiter_timeout_ms", options.rate_limiter_timeout_ms));
  if (options.batch_size == -1) {
    const char* option = nullptr;
    if (options.drop_remainder) option = "drop_remainder";
    if (options.varying != Varying::kError) option = "varying";
    if (options.weights == Weights::kBatch) option = "weights normalised by the batch";
    if (option != nullptr)
      return absl::InvalidArgumentError(std::string(option) + " needs a batch_size.");
  }
  return CheckComponents(options.dtypes, options.shapes);
}

ReverbDataset::ReverbDataset(tensorflow::OpKernelContext* ctx,
                             std::vector<tensorflow::tstring> addresses, std::string table,
                             Beta beta, ReverbDatasetOptions options, BatchLayout layout)
    : TableDataset(tensorflow::data::DatasetContext(ctx)),
      addresses_(std::move(addresses)),
      table_(std::move(table)),
      beta_(std::move(beta)),
      options_(std::move(options)),
      layout_(std::move(layout)) {
  ClientOptions client_options = OpClientOptions();
  if (addresses_.size() > 1) client_options.patience = kPatienceWithOneOfSeveral;
  for (const std::string address : addresses_)
    clients_.push_back(Client::Create(address, client_options));
  SetOutputs();
  if (options_.max_staleness_samples != -1 || options_.max_staleness_us != -1) {
    // tf.data's own reading ahead would make elements older than was asked for.
    tensorflow::data::Options dataset_options;
    dataset_options.mutable_optimization_options()->set_inject_prefetch(false);
    dataset_options.mutable_optimization_options()->set_map_parallelization(false);
    set_options(dataset_options);
  }
}

void ReverbDataset::SetOutputs() {
  const bool batched = options_.batch_size != -1;
  const int64_t rows = batched ? StaticRows(options_) : -1;
  if (batched) {
    layout_.AppendComponents(rows, &output_dtypes_, &output_shapes_);
  } else {
    output_dtypes_ = options_.dtypes;
    output_shapes_ = options_.shapes;
  }
  if (options_.weights != Weights::kNone) {
    output_dtypes_.push_back(tensorflow::DT_FLOAT);
    output_shapes_.push_back(batched ? PartialTensorShape({rows}) : PartialTensorShape({}));
  }
  if (batched) layout_.AppendLengths(rows, &output_dtypes_, &output_shapes_);
}

SamplerOptions ReverbDataset::MakeSamplerOptions() const {
  const int64_t servers = static_cast<int64_t>(clients_.size());
  SamplerOptions options;
  options.table = table_;
  int64_t in_flight = MaxInFlight(options_);
  if (options_.max_staleness_samples != -1) {
    // With several servers one sample of each may wait outside of its sampler.
    const int64_t each = options_.max_staleness_samples / servers - (servers > 1 ? 1 : 0);
    options.on_demand = each < 1;
    if (!options.on_demand) in_flight = std::min(in_flight, each);
  }
  options.num_workers = std::min(options_.num_workers, in_flight);
  options.max_in_flight_samples_per_worker = in_flight / options.num_workers;
  options.max_samples_per_stream = options_.max_samples_per_stream;
  options.request_ahead = true;
  if (options_.rate_limiter_timeout_ms != -1)
    options.rate_limiter_timeout = std::chrono::milliseconds(options_.rate_limiter_timeout_ms);
  return options;
}

std::unique_ptr<tensorflow::data::IteratorBase> ReverbDataset::MakeIteratorInternal(
    const std::string& prefix) const {
  return MakeReverbIterator(this, prefix + "::ReverbBatchedDataset");
}

std::string ReverbDataset::DebugString() const {
  std::string text = type_string() + " of table '" + table_ + "' of ";
  text += addresses_.size() == 1 ? "the server at " : "the servers at ";
  for (size_t i = 0; i < addresses_.size(); ++i) {
    if (i > 0) text += ", ";
    text += addresses_[i];
  }
  return text;
}

int64_t ReverbDataset::CardinalityInternal(tensorflow::data::CardinalityOptions options) const {
  // A timeout may end it at any time.
  if (options_.rate_limiter_timeout_ms != -1) return tensorflow::data::kUnknownCardinality;
  if (options_.max_samples == -1) return tensorflow::data::kInfiniteCardinality;
  if (options_.batch_size == -1) return options_.max_samples;
  const int64_t full = options_.max_samples / options_.batch_size;
  const bool remainder = options_.max_samples % options_.batch_size != 0;
  return full + (remainder && !options_.drop_remainder ? 1 : 0);
}

absl::Status ReverbDataset::AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                               DatasetGraphDefBuilder* b,
                                               tensorflow::Node** output) const {
  tensorflow::Node* server_address = nullptr;
  tensorflow::Node* table = nullptr;
  tensorflow::Node* beta = nullptr;
  TF_RETURN_IF_ERROR(b->AddVector(addresses_, &server_address));
  TF_RETURN_IF_ERROR(b->AddScalar(tensorflow::tstring(table_), &table));
  TF_RETURN_IF_ERROR(b->AddDatasetOrTensor(ctx, beta_.input(), &beta));
  Attributes attributes(b);
  attributes.Add("batch_size", options_.batch_size);
  attributes.Add("drop_remainder", options_.drop_remainder);
  attributes.Add("varying", std::string(NameOf(options_.varying)));
  attributes.Add("weights", std::string(NameOf(options_.weights)));
  attributes.Add("num_workers", options_.num_workers);
  attributes.Add("max_in_flight", options_.max_in_flight);
  attributes.Add("max_staleness_samples", options_.max_staleness_samples);
  attributes.Add("max_staleness_us", options_.max_staleness_us);
  attributes.Add("max_samples_per_stream", options_.max_samples_per_stream);
  attributes.Add("rate_limiter_timeout_ms", options_.rate_limiter_timeout_ms);
  attributes.Add("max_samples", options_.max_samples);
  attributes.Add("Tbeta", beta_.input().dtype());
  attributes.Add("dtypes", options_.dtypes);
  attributes.Add("shapes", options_.shapes);
  return b->AddDataset(this, {{0, server_address}, {1, table}, {2, beta}}, {}, attributes.list(),
                       output);
}

}  // namespace reverb_tf::ops

#include "cc/ops/trajectory_iterator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "cc/ops/requested_spec.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/wait.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/platform/logging.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;
using ::tensorflow::data::IteratorContext;

constexpr Duration kSignatureTimeout = std::chrono::seconds(30);

template <typename T>
Tensor ScalarTensor(IteratorContext* ctx, T value) {
  Tensor tensor(ctx->allocator({}), tensorflow::DataTypeToEnum<T>::value, TensorShape({}));
  tensor.scalar<T>()() = value;
  return tensor;
}

class TrajectoryIterator : public tensorflow::data::DatasetIterator<TrajectoryDataset> {
 public:
  explicit TrajectoryIterator(const Params& params) : DatasetIterator<TrajectoryDataset>(params) {}

  absl::Status Initialize(IteratorContext* ctx) override {
    const TrajectoryDatasetOptions& dataset_options = dataset()->options();
    SamplerOptions options;
    options.table = dataset()->table();
    options.max_samples = dataset_options.max_samples;
    options.max_in_flight_samples_per_worker = dataset_options.max_in_flight_samples_per_worker;
    options.num_workers = dataset_options.num_workers_per_iterator;
    options.max_samples_per_stream = dataset_options.max_samples_per_stream;
    if (dataset_options.rate_limiter_timeout_ms >= 0) {
      options.rate_limiter_timeout =
          std::chrono::milliseconds(dataset_options.rate_limiter_timeout_ms);
    }
    TF_RETURN_IF_ERROR(ChooseValidation(ctx, &options));
    Result<std::unique_ptr<Sampler>> sampler = dataset()->client().NewSampler(options);
    if (!sampler.ok()) return ToTf(sampler.status());
    sampler_ = std::move(sampler).value();
    return absl::OkStatus();
  }

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    *end_of_sequence = ended_;
    if (ended_) return absl::OkStatus();
    std::function<void()> deregister;
    if (!RegisterCancellationCallback(
             ctx->cancellation_manager(), [sampler = sampler_] { sampler->Close(); }, &deregister)
             .ok()) {
      sampler_->Close();
      return Cancelled();
    }
    Result<Sample> sample = sampler_->Next(WaitOptions());
    deregister();
    if (IsCancelled(ctx)) return Cancelled();
    if (!sample.ok()) {
      if (!IsEnd(sample.status())) return ToTf(sample.status());
      ended_ = true;
      *end_of_sequence = true;
      return absl::OkStatus();
    }
    rate_limited_ = sample->info().rate_limited;
    return ReadElement(ctx, *sample, out_tensors);
  }

 protected:
  absl::Status SaveInternal(tensorflow::data::SerializationContext* ctx,
                            tensorflow::data::IteratorStateWriter* writer) override {
    return absl::UnimplementedError(
        "SaveInternal is currently not supported: samples cannot be taken back.");
  }

  absl::Status RestoreInternal(IteratorContext* ctx,
                               tensorflow::data::IteratorStateReader* reader) override {
    return absl::UnimplementedError(
        "RestoreInternal is currently not supported: samples cannot be taken back.");
  }

  tensorflow::data::TraceMeMetadata GetTraceMeMetadata() const override {
    return {{"rate_limited", rate_limited_ ? "true" : "false"}};
  }

 private:
  static bool IsCancelled(IteratorContext* ctx) {
    return ctx->cancellation_manager() != nullptr && ctx->cancellation_manager()->IsCancelled();
  }

  static absl::Status Cancelled() { return absl::CancelledError("Iterator context was cancelled"); }

  // What every sample is checked against: the table's signature, which the requested columns must
  // agree with, or else the requested columns.
  absl::Status ChooseValidation(IteratorContext* ctx, SamplerOptions* options) const {
    std::vector<TensorSpec> requested = dataset()->RequestedColumns();
    WaitOptions wait;
    wait.timeout = kSignatureTimeout;
    wait.interrupted = [ctx] { return IsCancelled(ctx); };
    Result<TableSignature> signature = dataset()->client().GetSignature(options->table, wait);
    if (IsCancelled(ctx)) return Cancelled();
    if (signature.ok() && signature->has_signature) {
      TF_RETURN_IF_ERROR(ToTf(CheckRequest(options->table, requested, signature->leaves)));
      options->expected = std::move(signature->leaves);
      options->expected_is_signature = true;
      return absl::OkStatus();
    }
    if (!signature.ok()) {
      const StatusCode code = signature.status().code();
      if (code != StatusCode::kDeadlineExceeded && code != StatusCode::kNotFound)
        return ToTf(signature.status());
      LOG(WARNING)
          << "The signature of table '" << options->table
          << "' is not known, so samples are checked against the requested dtypes and shapes: "
          << signature.status().ToString();
    }
    options->expected = std::move(requested);
    options->expected_is_signature = false;
    return absl::OkStatus();
  }

  bool IsEnd(const Status& status) const {
    if (status.code() == StatusCode::kOutOfRange) return dataset()->options().max_samples != -1;
    return dataset()->options().rate_limiter_timeout_ms >= 0 && IsRateLimiterTimeout(status);
  }

  static absl::Status ReadElement(IteratorContext* ctx, const Sample& sample,
                                  std::vector<Tensor>* out_tensors) {
    const SampleInfo& info = sample.info();
    out_tensors->reserve(kNumInfoTensors + sample.num_columns());
    out_tensors->push_back(ScalarTensor<uint64_t>(ctx, info.key));
    out_tensors->push_back(ScalarTensor<double>(ctx, info.probability));
    out_tensors->push_back(ScalarTensor<int64_t>(ctx, info.table_size));
    out_tensors->push_back(ScalarTensor<double>(ctx, info.priority));
    out_tensors->push_back(ScalarTensor<int32_t>(ctx, info.times_sampled));
    for (int i = 0; i < sample.num_columns(); ++i) {
      const ColumnView column = sample.column(i);
      TensorShape shape;
      TF_RETURN_IF_ERROR(ColumnShape(column, &shape));
      out_tensors->emplace_back(ctx->allocator({}), ToTf(column.dtype), shape);
      TF_RETURN_IF_ERROR(ReadColumn(sample, i, &out_tensors->back()));
    }
    return absl::OkStatus();
  }

  std::shared_ptr<Sampler> sampler_;  // set by Initialize
  std::atomic<bool> ended_{false};
  std::atomic<bool> rate_limited_{false};
};

}  // namespace

std::unique_ptr<tensorflow::data::IteratorBase> MakeTrajectoryIterator(
    const TrajectoryDataset* dataset, const std::string& prefix) {
  return std::make_unique<TrajectoryIterator>(TrajectoryIterator::Params{dataset, prefix});
}

}  // namespace reverb_tf::ops

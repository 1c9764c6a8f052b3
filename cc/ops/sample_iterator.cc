#include "cc/ops/sample_iterator.h"

#include <chrono>
#include <functional>
#include <utility>

#include "cc/ops/requested_spec.h"
#include "cc/ops/tf_convert.h"
#include "reverb_tf/wait.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/platform/logging.h"

namespace reverb_tf::ops {

using ::tensorflow::Tensor;
using ::tensorflow::data::IteratorContext;

namespace {

constexpr Duration kSignatureTimeout = std::chrono::seconds(30);

template <typename T>
Tensor ScalarTensor(IteratorContext* ctx, T value) {
  Tensor tensor(ctx->allocator({}), tensorflow::DataTypeToEnum<T>::value,
                tensorflow::TensorShape({}));
  tensor.scalar<T>()() = value;
  return tensor;
}

bool IsCancelled(IteratorContext* ctx) {
  return ctx->cancellation_manager() != nullptr && ctx->cancellation_manager()->IsCancelled();
}

absl::Status Cancelled() { return absl::CancelledError("Iterator context was cancelled"); }

}  // namespace

absl::Status SampleIterator::Initialize(IteratorContext* ctx) {
  const SampleDatasetOptions& dataset_options = dataset()->options();
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
  options.timesteps = dataset()->kind() == ElementKind::kTimestep;
  TF_RETURN_IF_ERROR(ChooseValidation(ctx, &options));
  Result<std::unique_ptr<Sampler>> sampler = dataset()->client().NewSampler(options);
  if (!sampler.ok()) return ToTf(sampler.status());
  sampler_ = std::move(sampler).value();
  return absl::OkStatus();
}

absl::Status SampleIterator::NextSample(IteratorContext* ctx, std::optional<Sample>* sample) {
  sample->reset();
  if (ended_) return absl::OkStatus();
  std::function<void()> deregister;
  if (!RegisterCancellationCallback(
           ctx->cancellation_manager(), [sampler = sampler_] { sampler->Close(); }, &deregister)
           .ok()) {
    sampler_->Close();
    return Cancelled();
  }
  Result<Sample> next = sampler_->Next(WaitOptions());
  deregister();
  if (IsCancelled(ctx)) return Cancelled();
  if (!next.ok()) {
    if (!IsEnd(next.status())) return ToTf(next.status());
    ended_ = true;
    return absl::OkStatus();
  }
  rate_limited_ = next->info().rate_limited;
  *sample = std::move(next).value();
  return absl::OkStatus();
}

void SampleIterator::AppendInfo(IteratorContext* ctx, const SampleInfo& info,
                                std::vector<Tensor>* element) {
  element->push_back(ScalarTensor<uint64_t>(ctx, info.key));
  element->push_back(ScalarTensor<double>(ctx, info.probability));
  element->push_back(ScalarTensor<int64_t>(ctx, info.table_size));
  element->push_back(ScalarTensor<double>(ctx, info.priority));
  element->push_back(ScalarTensor<int32_t>(ctx, info.times_sampled));
}

absl::Status SampleIterator::SaveInternal(tensorflow::data::SerializationContext* ctx,
                                          tensorflow::data::IteratorStateWriter* writer) {
  return absl::UnimplementedError(
      "SaveInternal is currently not supported: samples cannot be taken back.");
}

absl::Status SampleIterator::RestoreInternal(IteratorContext* ctx,
                                             tensorflow::data::IteratorStateReader* reader) {
  return absl::UnimplementedError(
      "RestoreInternal is currently not supported: samples cannot be taken back.");
}

tensorflow::data::TraceMeMetadata SampleIterator::GetTraceMeMetadata() const {
  return {{"rate_limited", rate_limited_ ? "true" : "false"}};
}

absl::Status SampleIterator::ChooseValidation(IteratorContext* ctx, SamplerOptions* options) const {
  std::vector<TensorSpec> requested = dataset()->RequestedData();
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

bool SampleIterator::IsEnd(const Status& status) const {
  if (status.code() == StatusCode::kOutOfRange) return dataset()->options().max_samples != -1;
  return dataset()->options().rate_limiter_timeout_ms >= 0 && IsRateLimiterTimeout(status);
}

}  // namespace reverb_tf::ops

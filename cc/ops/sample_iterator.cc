#include "cc/ops/sample_iterator.h"

#include <chrono>
#include <utility>

#include "cc/ops/iterator_support.h"
#include "cc/ops/tf_convert.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::ops {

using ::tensorflow::data::IteratorContext;

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
  TF_RETURN_IF_ERROR(ChooseValidation(ctx, &dataset()->client(), dataset()->RequestedData(),
                                      kSignatureTimeout, &options));
  Result<std::unique_ptr<Sampler>> sampler = dataset()->client().NewSampler(options);
  if (!sampler.ok()) return ToTf(sampler.status());
  sampler_ = std::move(sampler).value();
  return absl::OkStatus();
}

absl::Status SampleIterator::NextSample(IteratorContext* ctx, std::optional<Sample>* sample) {
  sample->reset();
  if (ended_) return absl::OkStatus();
  Result<Sample> next = [&] {
    const CancellationScope scope(ctx, [sampler = sampler_] { sampler->Close(); });
    return sampler_->Next(WaitOptions());
  }();
  if (IsCancelled(ctx)) return IteratorCancelled();
  if (!next.ok()) {
    if (!IsEnd(next.status())) return ToTf(next.status());
    ended_ = true;
    return absl::OkStatus();
  }
  rate_limited_ = next->info().rate_limited;
  *sample = std::move(next).value();
  return absl::OkStatus();
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

bool SampleIterator::IsEnd(const Status& status) const {
  if (status.code() == StatusCode::kOutOfRange) return dataset()->options().max_samples != -1;
  return dataset()->options().rate_limiter_timeout_ms >= 0 && IsRateLimiterTimeout(status);
}

}  // namespace reverb_tf::ops

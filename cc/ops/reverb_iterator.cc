#include "cc/ops/reverb_iterator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cc/ops/importance_weights.h"
#include "cc/ops/iterator_support.h"
#include "cc/ops/least_probability.h"
#include "cc/ops/sample_element.h"
#include "cc/ops/sample_mixer.h"
#include "cc/ops/tf_convert.h"
#include "tensorflow/core/platform/logging.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;
using ::tensorflow::data::IteratorContext;

// Of each of several servers.
constexpr Duration kSignatureTimeoutOfSeveral = std::chrono::seconds(5);
constexpr char kDelivered[] = "samples_delivered";

class ReverbIterator : public tensorflow::data::DatasetIterator<ReverbDataset> {
 public:
  explicit ReverbIterator(const Params& params)
      : DatasetIterator<ReverbDataset>(params),
        least_(params.dataset->clients(), params.dataset->table()) {}

  absl::Status Initialize(IteratorContext* ctx) override {
    TF_RETURN_IF_ERROR(MakeServers(ctx));
    StartMixer();
    return absl::OkStatus();
  }

  absl::Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors,
                               bool* end_of_sequence) override {
    const std::shared_ptr<SampleMixer> mixer = this->mixer();
    const CancellationScope scope(ctx, [mixer] { mixer->Close(); });
    int64_t rows = 0;
    const absl::Status status = dataset()->options().batch_size == -1
                                    ? NextTrajectory(ctx, mixer.get(), out_tensors, &rows)
                                    : NextBatch(ctx, mixer.get(), out_tensors, &rows);
    if (IsCancelled(ctx)) return IteratorCancelled();
    TF_RETURN_IF_ERROR(status);
    delivered_ += rows;
    *end_of_sequence = rows == 0;
    return absl::OkStatus();
  }

 protected:
  absl::Status SaveInternal(tensorflow::data::SerializationContext* ctx,
                            tensorflow::data::IteratorStateWriter* writer) override {
    return writer->WriteScalar(prefix(), kDelivered, delivered_);
  }

  absl::Status RestoreInternal(IteratorContext* ctx,
                               tensorflow::data::IteratorStateReader* reader) override {
    int64_t delivered = 0;
    TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), kDelivered, &delivered));
    delivered_ = delivered;
    StartMixer();
    return absl::OkStatus();
  }

  tensorflow::data::TraceMeMetadata GetTraceMeMetadata() const override {
    return {{"rate_limited", rate_limited_ ? "true" : "false"}};
  }

 private:
  absl::Status MakeServers(IteratorContext* ctx);
  void StartMixer();
  std::shared_ptr<SampleMixer> mixer() {
    std::lock_guard<std::mutex> lock(mu_);
    return mixer_;
  }

  // Nothing at the end of the sequence.
  absl::Status NextSample(SampleMixer* mixer, int64_t wanted,
                          std::optional<SampleMixer::Mixed>* sample);
  absl::Status NextTrajectory(IteratorContext* ctx, SampleMixer* mixer,
                              std::vector<Tensor>* element, int64_t* rows);
  absl::Status NextBatch(IteratorContext* ctx, SampleMixer* mixer, std::vector<Tensor>* element,
                         int64_t* rows);
  // Adds samples until the batch is full or there are no more.
  absl::Status FillBatch(SampleMixer* mixer, BatchBuilder* builder, std::vector<int>* servers);
  absl::Status AppendWeights(IteratorContext* ctx, const std::vector<SampleInfo>& infos,
                             const std::vector<int>& servers, TensorShape shape,
                             std::vector<Tensor>* element);

  std::vector<SampleMixer::Server> servers_;  // set by Initialize
  // Held while a batch is filled: callers at the same time would share the last samples, and none
  // of them get a full batch. Who waits for it is cancelled through the mixer.
  std::mutex filling_mu_;
  std::mutex mu_;
  std::shared_ptr<SampleMixer> mixer_;  // guarded by mu_
  LeastProbability least_;
  std::atomic<int64_t> delivered_{0};
  std::atomic<bool> rate_limited_{false};
};

absl::Status ReverbIterator::MakeServers(IteratorContext* ctx) {
  const std::vector<std::shared_ptr<Client>>& clients = dataset()->clients();
  const bool several = clients.size() > 1;
  std::vector<SamplerOptions> options(clients.size(), dataset()->MakeSamplerOptions());
  std::vector<absl::Status> statuses(clients.size());
  const auto choose = [&](size_t i) {
    const Duration timeout = several ? kSignatureTimeoutOfSeveral : kSignatureTimeout;
    statuses[i] = ChooseValidation(
        ctx, clients[i].get(), DataSpecs(dataset()->options().dtypes, dataset()->options().shapes),
        timeout, &options[i]);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < clients.size(); ++i) threads.emplace_back(choose, i);
  choose(0);
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < clients.size(); ++i) {
    if (several && absl::IsUnavailable(statuses[i])) {
      options[i].expected = DataSpecs(dataset()->options().dtypes, dataset()->options().shapes);
      options[i].expected_is_signature = false;
    } else {
      TF_RETURN_IF_ERROR(statuses[i]);
    }
    servers_.push_back(
        {clients[i]->address(), [client = clients[i], options = options[i]](int64_t max_samples) {
           SamplerOptions with_budget = options;
           with_budget.max_samples = max_samples;
           return client->NewSampler(with_budget);
         }});
  }
  return absl::OkStatus();
}

void ReverbIterator::StartMixer() {
  const ReverbDatasetOptions& options = dataset()->options();
  SampleMixerOptions mixer_options;
  if (options.max_samples != -1)
    mixer_options.max_samples = std::max<int64_t>(0, options.max_samples - delivered_);
  mixer_options.ends_on_timeout = options.rate_limiter_timeout_ms != -1;
  if (options.max_staleness_us != -1)
    mixer_options.max_age = std::chrono::microseconds(options.max_staleness_us);
  mixer_options.on_demand = dataset()->MakeSamplerOptions().on_demand;
  auto mixer = std::make_shared<SampleMixer>(servers_, mixer_options,
                                             [table = dataset()->table()](const std::string& line) {
                                               LOG(WARNING) << "Table '" << table << "': " << line;
                                             });
  std::lock_guard<std::mutex> lock(mu_);
  mixer_.swap(mixer);
}

absl::Status ReverbIterator::NextSample(SampleMixer* mixer, int64_t wanted,
                                        std::optional<SampleMixer::Mixed>* sample) {
  Result<std::optional<SampleMixer::Mixed>> next = mixer->Next(wanted);
  if (!next.ok()) return ToTf(next.status());
  *sample = std::move(*next);
  if (sample->has_value()) rate_limited_ = (**sample).sample.info().rate_limited;
  return absl::OkStatus();
}

absl::Status ReverbIterator::NextTrajectory(IteratorContext* ctx, SampleMixer* mixer,
                                            std::vector<Tensor>* element, int64_t* rows) {
  std::optional<SampleMixer::Mixed> next;
  TF_RETURN_IF_ERROR(NextSample(mixer, 1, &next));
  if (!next.has_value()) return absl::OkStatus();
  const SampleInfo& info = next->sample.info();
  element->reserve(dataset()->output_dtypes().size());
  AppendInfo(ctx->allocator({}), info, element);
  TF_RETURN_IF_ERROR(AppendColumns(ctx->allocator({}), next->sample, element));
  *rows = 1;
  return AppendWeights(ctx, {info}, {next->server}, TensorShape({}), element);
}

absl::Status ReverbIterator::NextBatch(IteratorContext* ctx, SampleMixer* mixer,
                                       std::vector<Tensor>* element, int64_t* rows) {
  const int64_t batch_size = dataset()->options().batch_size;
  BatchBuilder builder(&dataset()->layout(), ctx->allocator({}));
  std::vector<int> servers;
  TF_RETURN_IF_ERROR(FillBatch(mixer, &builder, &servers));
  const bool dropped = dataset()->options().drop_remainder && builder.size() < batch_size;
  if (builder.size() == 0 || dropped) return absl::OkStatus();
  *rows = builder.size();
  element->reserve(dataset()->output_dtypes().size());
  TF_RETURN_IF_ERROR(builder.Finish(element));
  TF_RETURN_IF_ERROR(AppendWeights(ctx, builder.infos(), servers, TensorShape({*rows}), element));
  builder.FinishLengths(element);
  return absl::OkStatus();
}

absl::Status ReverbIterator::FillBatch(SampleMixer* mixer, BatchBuilder* builder,
                                       std::vector<int>* servers) {
  const int64_t batch_size = dataset()->options().batch_size;
  servers->reserve(batch_size);
  std::lock_guard<std::mutex> lock(filling_mu_);
  while (builder->size() < batch_size) {
    std::optional<SampleMixer::Mixed> next;
    TF_RETURN_IF_ERROR(NextSample(mixer, batch_size - builder->size(), &next));
    if (!next.has_value()) break;
    servers->push_back(next->server);
    TF_RETURN_IF_ERROR(builder->Add(std::move(next->sample)));
  }
  return absl::OkStatus();
}

absl::Status ReverbIterator::AppendWeights(IteratorContext* ctx,
                                           const std::vector<SampleInfo>& infos,
                                           const std::vector<int>& servers, TensorShape shape,
                                           std::vector<Tensor>* element) {
  if (dataset()->options().weights == Weights::kNone) return absl::OkStatus();
  double least = 0;  // of the batch
  if (dataset()->options().weights == Weights::kTable) {
    Result<double> of_tables = least_.Of(infos, servers, [ctx] { return IsCancelled(ctx); });
    if (!of_tables.ok()) return ToTf(of_tables.status());
    least = *of_tables;
  }
  double beta = 0;
  TF_RETURN_IF_ERROR(dataset()->beta().Read(&beta));
  element->emplace_back(ctx->allocator({}), tensorflow::DT_FLOAT, shape);
  return ToTf(ImportanceWeights(infos, beta, least, element->back().flat<float>().data()));
}

}  // namespace

std::unique_ptr<tensorflow::data::IteratorBase> MakeReverbIterator(const ReverbDataset* dataset,
                                                                   const std::string& prefix) {
  return std::make_unique<ReverbIterator>(ReverbIterator::Params{dataset, prefix});
}

}  // namespace reverb_tf::ops

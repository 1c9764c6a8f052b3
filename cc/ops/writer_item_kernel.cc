// Kernel of ReverbTrajectoryWriterCreateItem.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "cc/ops/writer_call.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::Tensor;

// The attributes.
struct ItemForm {
  std::vector<int32_t> columns;
  std::vector<bool> squeeze;
  ShortEpisode short_episode = ShortEpisode::kClip;
  Duration timeout = kInfiniteDuration;
};

// What a call holds until its turn, and while it waits.
struct Items {
  std::shared_ptr<const ItemForm> form;
  Tensor mask;
  Tensor tables;      // a scalar, or one for each environment
  Tensor priorities;  // likewise
  std::vector<StepChoice> choices;

  std::vector<size_t> environments;              // that get an item
  std::vector<std::vector<ItemColumn>> columns;  // of the items of those
  std::vector<uint64_t> keys;                    // of all environments; 0: no item

  std::string table(size_t environment) const {
    const auto names = tables.flat<tensorflow::tstring>();
    return names(names.size() == 1 ? 0 : static_cast<int64_t>(environment));
  }
  double priority(size_t environment) const {
    const auto values = priorities.flat<double>();
    return values(values.size() == 1 ? 0 : static_cast<int64_t>(environment));
  }
};

absl::Status CheckVector(const char* name, const Tensor& values, size_t n) {
  if (values.dims() == 1 && static_cast<size_t>(values.dim_size(0)) == n) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(name) + " must have shape [" + std::to_string(n) +
                                    "] (one for each column of the item), got " +
                                    values.shape().DebugString());
}

absl::Status ReadChoices(const WriterConfig& config, const Tensor& starts, const Tensor& stops,
                         Items* items) {
  const ItemForm& form = *items->form;
  const size_t n = form.columns.size();
  TF_RETURN_IF_ERROR(CheckVector("starts", starts, n));
  TF_RETURN_IF_ERROR(CheckVector("stops", stops, n));
  for (size_t i = 0; i < n; ++i) {
    const int32_t column = form.columns[i];
    if (column < 0 || column >= static_cast<int32_t>(config.columns.size())) {
      return absl::InvalidArgumentError("columns must be numbers from 0 to " +
                                        std::to_string(config.columns.size() - 1) + ", got " +
                                        std::to_string(column) + ".");
    }
    const auto k = static_cast<int64_t>(i);
    items->choices.push_back(
        {column, starts.vec<int64_t>()(k), stops.vec<int64_t>()(k), form.squeeze[i]});
  }
  return absl::OkStatus();
}

bool HasAll(const StepHistory& history, const std::vector<StepChoice>& choices) {
  for (const StepChoice& choice : choices) {
    if (!history.Has(choice)) return false;
  }
  return true;
}

// Chooses the rows of every item, before any is created.
Status ChooseRows(WriterResource& writer, Items* items) {
  const ShortEpisode short_episode = items->form->short_episode;
  for (size_t environment : ChosenEnvironments(items->mask)) {
    const StepHistory& history = writer.environments()[environment].history;
    if (short_episode == ShortEpisode::kSkip && !HasAll(history, items->choices)) continue;
    if (std::isnan(items->priority(environment))) {
      return writer.InEnvironment(environment,
                                  InvalidArgumentError("The priority of an item for table '" +
                                                       items->table(environment) + "' is NaN."));
    }
    std::vector<ItemColumn> columns(items->choices.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      const StepChoice& choice = items->choices[i];
      const Status status =
          history.Choose(choice, short_episode == ShortEpisode::kClip,
                         writer.config().columns[choice.column].name, &columns[i]);
      if (!status.ok()) {
        return writer.InEnvironment(environment,
                                    status.WithContext("Unable to create an item in table '" +
                                                       items->table(environment) + "'"));
      }
    }
    items->environments.push_back(environment);
    items->columns.push_back(std::move(columns));
  }
  return OkStatus();
}

Status Create(WriterCall& call, Items* items) {
  items->keys.resize(call.writer().environments().size());
  WaitOptions at_once;
  at_once.timeout = Duration::zero();
  for (size_t i = 0; i < items->environments.size(); ++i) {
    const size_t environment = items->environments[i];
    Result<uint64_t> key =
        call.environment(environment)
            .writer->CreateItem(items->table(environment), items->priority(environment),
                                items->columns[i], at_once);
    if (!key.ok()) return call.writer().InEnvironment(environment, key.status());
    items->keys[environment] = *key;
  }
  return OkStatus();
}

absl::Status WriteKeys(OpKernelContext* ctx, const Items& items) {
  Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(ctx->allocate_output(0, items.mask.shape(), &output));
  std::copy(items.keys.begin(), items.keys.end(), output->flat<uint64_t>().data());
  return absl::OkStatus();
}

void Run(const std::shared_ptr<WriterCall>& call, const std::shared_ptr<Items>& items) {
  const Status chosen = ChooseRows(call->writer(), items.get());
  if (!chosen.ok()) return call->End(chosen);
  call->WaitForAll(
      items->environments,
      [&](size_t environment, WriterCall::Callback callback) {
        return call->environment(environment)
            .writer->PrepareItemAsync(items->table(environment), items->form->timeout,
                                      std::move(callback));
      },
      [call = call.get(), items](const Status& ready) {
        const Status status = ready.ok() ? Create(*call, items.get()) : ready;
        call->End(status, [&](OpKernelContext* ctx) { return WriteKeys(ctx, *items); });
      });
}

class CreateItemKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit CreateItemKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    ItemForm form;
    std::string short_episode;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("columns", &form.columns));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("squeeze", &form.squeeze));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("short_episode", &short_episode));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_order", &num_order_));
    OP_REQUIRES_OK(ctx, GetTimeout(ctx, &form.timeout));
    OP_REQUIRES(ctx, form.columns.size() == form.squeeze.size(),
                absl::InvalidArgumentError(
                    "columns and squeeze must have an entry for each column of the item, got " +
                    std::to_string(form.columns.size()) + " and " +
                    std::to_string(form.squeeze.size()) + "."));
    if (short_episode == "error") form.short_episode = ShortEpisode::kError;
    if (short_episode == "skip") form.short_episode = ShortEpisode::kSkip;
    form_ = std::make_shared<const ItemForm>(std::move(form));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    WriterPtr writer;
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &writer), done);
    auto items = std::make_shared<Items>();
    const int first = 1 + num_order_;
    items->form = form_;
    items->mask = ctx->input(first);
    items->tables = ctx->input(first + 1);
    items->priorities = ctx->input(first + 2);
    OP_REQUIRES_OK_ASYNC(ctx, writer->CheckMask(items->mask), done);
    OP_REQUIRES_OK_ASYNC(ctx, writer->CheckScalars("table", items->tables), done);
    OP_REQUIRES_OK_ASYNC(ctx, writer->CheckScalars("priority", items->priorities), done);
    OP_REQUIRES_OK_ASYNC(
        ctx,
        ReadChoices(writer->config(), ctx->input(first + 3), ctx->input(first + 4), items.get()),
        done);
    WriterCall::Start(ctx, std::move(done), std::move(writer),
                      [items](const std::shared_ptr<WriterCall>& call) { Run(call, items); });
  }

 private:
  std::shared_ptr<const ItemForm> form_;
  int num_order_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryWriterCreateItem").Device(tensorflow::DEVICE_CPU),
                        CreateItemKernel);

}  // namespace
}  // namespace reverb_tf::ops

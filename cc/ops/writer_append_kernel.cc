// Kernel of ReverbTrajectoryWriterAppend.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/requested_spec.h"
#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "cc/ops/writer_call.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::Tensor;

// What an append holds until its turn.
struct Step {
  std::shared_ptr<const std::vector<int32_t>> columns;  // of the data
  bool partial = false;
  Tensor mask;
  std::vector<Tensor> data;
};

// `data` against the spec of the column, which lacks the axis of environments.
absl::Status CheckData(const WriterConfig& config, const TensorSpec& spec, const Tensor& data) {
  TensorSpec expected = spec;
  if (config.batched() && !spec.unknown_rank) {
    expected.dims.insert(expected.dims.begin(), config.batch_size);
  }
  std::vector<int64_t> dims(static_cast<size_t>(data.dims()));
  for (int i = 0; i < data.dims(); ++i) dims[i] = data.dim_size(i);
  const bool has_batch = !config.batched() || (!dims.empty() && dims[0] == config.batch_size);
  const DType dtype = FromTf(data.dtype());
  if (has_batch && expected.Accepts(dtype, dims.data(), data.dims())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Column " + spec.name + " got a tensor with (dtype, shape): (" + DTypeName(dtype) + ", " +
      ShapeString(dims.data(), data.dims()) +
      "), expected (dtype, shape): " + SpecString(expected) +
      (config.batched() ? ", where the first dimension is that of the environments." : "."));
}

absl::Status CheckStep(const WriterConfig& config, const Step& step) {
  const auto num_columns = static_cast<int32_t>(config.columns.size());
  if (step.columns->size() != step.data.size()) {
    return absl::InvalidArgumentError("columns must have an entry for each tensor of data, got " +
                                      std::to_string(step.columns->size()) + " for " +
                                      std::to_string(step.data.size()) + ".");
  }
  std::vector<bool> given(config.columns.size());
  for (size_t i = 0; i < step.data.size(); ++i) {
    const int32_t column = (*step.columns)[i];
    if (column < 0 || column >= num_columns || given[column]) {
      return absl::InvalidArgumentError("columns must be different numbers from 0 to " +
                                        std::to_string(num_columns - 1) + ", got " +
                                        std::to_string(column) + ".");
    }
    given[column] = true;
    TF_RETURN_IF_ERROR(CheckData(config, config.columns[column], step.data[i]));
  }
  return absl::OkStatus();
}

// Before anything is appended to any environment.
Status CheckOpenSteps(WriterResource& writer, const Step& step,
                      const std::vector<size_t>& environments) {
  for (size_t i : environments) {
    for (int32_t column : *step.columns) {
      if (!writer.environments()[i].history.IsSet(column)) continue;
      return writer.InEnvironment(
          i, FailedPreconditionError("Column " + writer.config().columns[column].name +
                                     " has already been set in the step that is open."));
    }
  }
  return OkStatus();
}

Status AppendToAll(WriterResource& writer, const Step& step) {
  const std::vector<size_t> environments = ChosenEnvironments(step.mask);
  REVERB_TF_RETURN_IF_ERROR(CheckOpenSteps(writer, step, environments));
  TensorViews views;
  for (const Tensor& tensor : step.data) views.Add(tensor);
  const size_t num_columns = writer.config().columns.size();
  std::vector<TensorView> values(num_columns);
  std::vector<StepRef> refs(num_columns);
  for (size_t environment : environments) {
    for (size_t i = 0; i < step.data.size(); ++i) {
      TensorView& value = values[(*step.columns)[i]];
      value = views.data()[i];
      if (!writer.config().batched()) continue;
      --value.rank;
      ++value.dims;
      const size_t row_bytes = value.dtype == DType::kString
                                   ? value.num_elements() * sizeof(std::string_view)
                                   : value.num_bytes();
      value.data = static_cast<const char*>(value.data) + environment * row_bytes;
    }
    WriterResource::Environment& target = writer.environments()[environment];
    const Status status = target.writer->Append(values.data(), static_cast<int32_t>(num_columns),
                                                step.partial, refs.data());
    if (!status.ok()) return writer.InEnvironment(environment, status);
    target.history.Append(refs.data(), step.partial);
  }
  return OkStatus();
}

class AppendKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit AppendKernel(tensorflow::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    std::vector<int32_t> columns;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("columns", &columns));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("partial", &partial_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_order", &num_order_));
    columns_ = std::make_shared<const std::vector<int32_t>>(std::move(columns));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    WriterPtr writer;
    OP_REQUIRES_OK_ASYNC(
        ctx, tensorflow::LookupResource(ctx, tensorflow::HandleFromInput(ctx, 0), &writer), done);
    auto step = std::make_shared<Step>();
    step->columns = columns_;
    step->partial = partial_;
    step->mask = ctx->input(1 + num_order_);
    for (int i = 2 + num_order_; i < ctx->num_inputs(); ++i) step->data.push_back(ctx->input(i));
    OP_REQUIRES_OK_ASYNC(ctx, writer->CheckMask(step->mask), done);
    OP_REQUIRES_OK_ASYNC(ctx, CheckStep(writer->config(), *step), done);
    WriterCall::Start(ctx, std::move(done), std::move(writer),
                      [step](const std::shared_ptr<WriterCall>& call) {
                        call->End(AppendToAll(call->writer(), *step));
                      });
  }

 private:
  std::shared_ptr<const std::vector<int32_t>> columns_;
  bool partial_ = false;
  int num_order_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("ReverbTrajectoryWriterAppend").Device(tensorflow::DEVICE_CPU),
                        AppendKernel);

}  // namespace
}  // namespace reverb_tf::ops

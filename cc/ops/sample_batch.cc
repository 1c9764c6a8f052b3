#include "cc/ops/sample_batch.h"

#include "cc/ops/requested_spec.h"
#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::PartialTensorShape;
using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;

TensorShape OutputShape(const SampleBatchOptions& options, const std::vector<Sample>& samples,
                        TensorShape row) {
  if (options.batched) row.InsertDim(0, static_cast<int64_t>(samples.size()));
  return row;
}

template <typename T, typename Get>
absl::Status WriteInfoField(OpKernelContext* ctx, int i, const SampleBatchOptions& options,
                            const std::vector<Sample>& samples, Get get) {
  Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(
      ctx->allocate_output(i, OutputShape(options, samples, TensorShape({})), &output));
  T* const values = output->flat<T>().data();
  for (size_t k = 0; k < samples.size(); ++k) values[k] = get(samples[k].info());
  return absl::OkStatus();
}

absl::Status WriteInfo(OpKernelContext* ctx, const SampleBatchOptions& options,
                       const std::vector<Sample>& samples) {
  const auto& o = options;
  TF_RETURN_IF_ERROR(WriteInfoField<uint64_t>(ctx, 0, o, samples, [](auto& i) { return i.key; }));
  TF_RETURN_IF_ERROR(
      WriteInfoField<double>(ctx, 1, o, samples, [](auto& i) { return i.probability; }));
  TF_RETURN_IF_ERROR(
      WriteInfoField<int64_t>(ctx, 2, o, samples, [](auto& i) { return i.table_size; }));
  TF_RETURN_IF_ERROR(
      WriteInfoField<double>(ctx, 3, o, samples, [](auto& i) { return i.priority; }));
  return WriteInfoField<int32_t>(ctx, 4, o, samples, [](auto& i) { return i.times_sampled; });
}

std::string ShapeText(tensorflow::DataType dtype, const PartialTensorShape& shape) {
  return SpecString(FromTf(dtype, shape));
}

absl::Status CheckColumn(OpKernelContext* ctx, const std::string& table,
                         const SampleBatchOptions& options, int i, const ColumnView& column,
                         const TensorShape& shape) {
  const tensorflow::DataType expected = ctx->expected_output_dtype(kNumInfoTensors + i);
  const bool any_shape = options.shapes.empty();
  if (ToTf(column.dtype) == expected && (any_shape || options.shapes[i].IsCompatibleWith(shape)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Received incompatible tensor at flattened index " + std::to_string(i) + " from table '" +
      table + "'.  Requested (dtype, shape): " +
      ShapeText(expected, any_shape ? PartialTensorShape() : options.shapes[i]) +
      ".  Received (dtype, shape): " + ShapeText(ToTf(column.dtype), shape) + ".");
}

absl::Status WriteColumn(OpKernelContext* ctx, const std::string& table,
                         const SampleBatchOptions& options, int i,
                         const std::vector<Sample>& samples) {
  Tensor* output = nullptr;
  TensorShape first;
  for (size_t k = 0; k < samples.size(); ++k) {
    const ColumnView column = samples[k].column(i);
    TensorShape shape;
    TF_RETURN_IF_ERROR(options.timesteps ? RowShape(column, &shape) : ColumnShape(column, &shape));
    TF_RETURN_IF_ERROR(CheckColumn(ctx, table, options, i, column, shape));
    if (k == 0) {
      first = shape;
      TF_RETURN_IF_ERROR(
          ctx->allocate_output(kNumInfoTensors + i, OutputShape(options, samples, shape), &output));
    }
    if (shape != first) {
      return absl::InvalidArgumentError(
          "Samples of table '" + table + "' differ in shape at flattened index " +
          std::to_string(i) + ": sample 0 has " + ShapeText(ToTf(column.dtype), first) +
          ", sample " + std::to_string(k) + " has " + ShapeText(ToTf(column.dtype), shape) +
          ".  Those of a batch must have one shape.");
    }
    const int64_t rows = options.timesteps ? 1 : column.num_rows;
    TF_RETURN_IF_ERROR(ReadIntoPart(samples[k], i, rows, static_cast<int64_t>(k),
                                    static_cast<int64_t>(samples.size()), output));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteSamples(OpKernelContext* ctx, const std::string& table,
                          const SampleBatchOptions& options, const std::vector<Sample>& samples) {
  const int num_columns = ctx->num_outputs() - kNumInfoTensors;
  for (const Sample& sample : samples)
    TF_RETURN_IF_ERROR(CheckNumColumns(table, sample, num_columns));
  TF_RETURN_IF_ERROR(WriteInfo(ctx, options, samples));
  for (int i = 0; i < num_columns; ++i)
    TF_RETURN_IF_ERROR(WriteColumn(ctx, table, options, i, samples));
  return absl::OkStatus();
}

}  // namespace reverb_tf::ops

#include "cc/ops/variable_result.h"

#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::PartialTensorShape;
using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;

std::string Describe(tensorflow::DataType dtype, const std::string& shape) {
  return tensorflow::DataTypeString(dtype) + " " + shape;
}

absl::Status CheckColumns(const OpKernelContext* ctx, const std::string& table,
                          const Sample& sample, const std::vector<PartialTensorShape>& expected,
                          int first_output, std::vector<TensorShape>* shapes) {
  if (sample.num_columns() != static_cast<int>(expected.size())) {
    return absl::InvalidArgumentError(
        "Table '" + table + "' has " + std::to_string(sample.num_columns()) +
        " variables; expected " + std::to_string(expected.size()) + ".");
  }
  shapes->resize(expected.size());
  for (int i = 0; i < sample.num_columns(); ++i) {
    const ColumnView column = sample.column(i);
    TensorShape* const shape = &(*shapes)[i];
    TF_RETURN_IF_ERROR(RowShape(column, shape));
    const tensorflow::DataType dtype = ctx->expected_output_dtype(first_output + i);
    if (ToTf(column.dtype) == dtype && expected[i].IsCompatibleWith(*shape)) continue;
    return absl::InvalidArgumentError("Variable " + std::to_string(i) + " of table '" + table +
                                      "' is " + Describe(ToTf(column.dtype), shape->DebugString()) +
                                      "; expected " + Describe(dtype, expected[i].DebugString()) +
                                      ".");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteVariables(OpKernelContext* ctx, const std::string& table, const Sample& sample,
                            const std::vector<PartialTensorShape>& expected, int first_output) {
  std::vector<TensorShape> shapes;
  TF_RETURN_IF_ERROR(CheckColumns(ctx, table, sample, expected, first_output, &shapes));
  for (int i = 0; i < sample.num_columns(); ++i) {
    Tensor* output = nullptr;
    TF_RETURN_IF_ERROR(ctx->allocate_output(first_output + i, shapes[i], &output));
    TF_RETURN_IF_ERROR(ReadFirstRow(sample, i, output));
  }
  return absl::OkStatus();
}

}  // namespace reverb_tf::ops

#include "cc/ops/variable_result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/ops/decode_work.h"
#include "cc/ops/shared_tensor.h"
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

struct Copy {
  int column;
  Tensor* to;
};

// Makes the outputs. What they lack then is `copies`.
absl::Status MakeOutputs(OpKernelContext* ctx, const Sample& sample,
                         const std::vector<TensorShape>& shapes, int first_output,
                         std::vector<Copy>* copies) {
  for (int i = 0; i < sample.num_columns(); ++i) {
    Tensor shared;
    if (ShareFirstRow(sample, i, shapes[i], &shared)) {
      ctx->set_output(first_output + i, shared);
      continue;
    }
    Copy copy{i, nullptr};
    TF_RETURN_IF_ERROR(ctx->allocate_output(first_output + i, shapes[i], &copy.to));
    copies->push_back(copy);
  }
  return absl::OkStatus();
}

}  // namespace

void WriteVariables(OpKernelContext* ctx, const std::string& table, Sample sample,
                    const std::vector<PartialTensorShape>& expected, int first_output,
                    std::function<void(absl::Status)> done) {
  std::vector<TensorShape> shapes;
  std::vector<Copy> copies;
  absl::Status status = CheckColumns(ctx, table, sample, expected, first_output, &shapes);
  if (status.ok()) status = MakeOutputs(ctx, sample, shapes, first_output, &copies);
  if (!status.ok()) return done(status);
  size_t bytes = 0;
  for (const Copy& copy : copies) bytes += copy.to->TotalBytes();
  const auto n = static_cast<int64_t>(copies.size());
  RunDecode(
      ctx, bytes, n,
      [sample = std::make_shared<const Sample>(std::move(sample)), copies = std::move(copies)](
          int64_t i) { return ReadFirstRow(*sample, copies[i].column, copies[i].to); },
      std::move(done));
}

}  // namespace reverb_tf::ops

#include "cc/ops/variable_result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cc/ops/shared_tensor.h"
#include "cc/ops/tf_convert.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/util/work_sharder.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::OpKernelContext;
using ::tensorflow::PartialTensorShape;
using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;

// Copied by one thread in less time than it takes to wake another.
constexpr size_t kMinParallelBytes = size_t{1} << 20;
constexpr int64_t kBytesPerCycle = 2;  // of a copy

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

// On several threads if it is much.
absl::Status ReadAll(OpKernelContext* ctx, const Sample& sample, const std::vector<Copy>& copies) {
  const auto n = static_cast<int64_t>(copies.size());
  std::vector<absl::Status> statuses(copies.size());
  const auto read = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      statuses[i] = ReadFirstRow(sample, copies[i].column, copies[i].to);
  };
  size_t bytes = 0;
  for (const Copy& copy : copies) bytes += copy.to->TotalBytes();
  if (bytes < kMinParallelBytes) {
    read(0, n);
  } else {
    const auto* const threads = ctx->device()->tensorflow_cpu_worker_threads();
    const int64_t cost = static_cast<int64_t>(bytes) / n / kBytesPerCycle;
    tensorflow::Shard(threads->num_threads, threads->workers, n, cost, read);
  }
  for (const absl::Status& status : statuses) TF_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteVariables(OpKernelContext* ctx, const std::string& table, const Sample& sample,
                            const std::vector<PartialTensorShape>& expected, int first_output) {
  std::vector<TensorShape> shapes;
  TF_RETURN_IF_ERROR(CheckColumns(ctx, table, sample, expected, first_output, &shapes));
  std::vector<Copy> copies;
  for (int i = 0; i < sample.num_columns(); ++i) {
    Tensor shared;
    if (ShareFirstRow(sample, i, shapes[i], &shared)) {
      ctx->set_output(first_output + i, shared);
      continue;
    }
    Copy copy{i, nullptr};
    TF_RETURN_IF_ERROR(ctx->allocate_output(first_output + i, shapes[i], &copy.to));
    copies.push_back(copy);
  }
  return ReadAll(ctx, sample, copies);
}

}  // namespace reverb_tf::ops

#include "cc/ops/tf_convert.h"

#include <string>
#include <utility>

#include "tensorflow/core/platform/tstring.h"

namespace reverb_tf::ops {
namespace {

// Into `size` elements from `out` on.
absl::Status ReadStrings(const Sample& sample, int i, int64_t num_rows, tensorflow::tstring* out,
                         int64_t size) {
  Result<std::vector<std::string_view>> strings = sample.ReadStrings(i, 0, num_rows);
  if (!strings.ok()) return ToTf(strings.status());
  if (static_cast<size_t>(size) != strings->size()) {
    return absl::DataLossError("Column " + std::to_string(i) + " has " +
                               std::to_string(strings->size()) + " strings where its shape says " +
                               std::to_string(size) + ".");
  }
  for (int64_t k = 0; k < size; ++k) out[k].assign((*strings)[k].data(), (*strings)[k].size());
  return absl::OkStatus();
}

}  // namespace

absl::Status ToTf(const Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.code()), status.message());
}

TensorSpec FromTf(tensorflow::DataType dtype, const tensorflow::PartialTensorShape& shape) {
  TensorSpec spec;
  spec.dtype = FromTf(dtype);
  spec.unknown_rank = shape.unknown_rank();
  for (int i = 0; i < shape.dims(); ++i) spec.dims.push_back(shape.dim_size(i));
  return spec;
}

void TensorViews::Add(const tensorflow::Tensor& tensor) {
  std::vector<int64_t> dims(tensor.dims());
  for (int i = 0; i < tensor.dims(); ++i) dims[i] = tensor.dim_size(i);
  TensorView view;
  view.dtype = FromTf(tensor.dtype());
  view.rank = tensor.dims();
  dims_.push_back(std::move(dims));
  view.dims = dims_.back().data();
  if (tensor.dtype() == tensorflow::DT_STRING) {
    std::vector<std::string_view> strings;
    strings.reserve(tensor.NumElements());
    const auto flat = tensor.flat<tensorflow::tstring>();
    for (int64_t i = 0; i < flat.size(); ++i) strings.emplace_back(flat(i).data(), flat(i).size());
    strings_.push_back(std::move(strings));
    view.data = strings_.back().data();
  } else {
    view.data = tensor.data();
  }
  views_.push_back(view);
}

absl::Status ReadTableName(const tensorflow::Tensor& tensor, std::string* table) {
  if (tensor.NumElements() != 1) {
    return absl::InvalidArgumentError("table must be one name, got shape " +
                                      tensor.shape().DebugString());
  }
  *table = tensor.flat<tensorflow::tstring>()(0);
  return absl::OkStatus();
}

absl::Status CheckNumShapes(int num_shapes, int num_data) {
  if (num_shapes == 0 || num_shapes == num_data) return absl::OkStatus();
  return absl::InvalidArgumentError("output_shapes has " + std::to_string(num_shapes) +
                                    " entries; expected none or one for each of the " +
                                    std::to_string(num_data) + " entries of Toutput_list.");
}

absl::Status CheckNumColumns(const std::string& table, const Sample& sample, int num_requested) {
  if (sample.num_columns() == num_requested) return absl::OkStatus();
  return absl::InvalidArgumentError("Inconsistent number of tensors received from table '" + table +
                                    "'.  Received " + std::to_string(sample.num_columns()) +
                                    " tensors, but " + std::to_string(num_requested) +
                                    " were requested.");
}

absl::Status ColumnShape(const ColumnView& column, tensorflow::TensorShape* shape) {
  return tensorflow::TensorShapeUtils::MakeShape(column.dims, column.rank, shape);
}

absl::Status RowShape(const ColumnView& column, tensorflow::TensorShape* shape) {
  if (column.squeezed) return ColumnShape(column, shape);
  return tensorflow::TensorShapeUtils::MakeShape(column.dims + 1, column.rank - 1, shape);
}

absl::Status ReadColumn(const Sample& sample, int i, tensorflow::Tensor* out) {
  if (out->dtype() == tensorflow::DT_STRING) {
    return ReadStrings(sample, i, sample.column(i).num_rows,
                       out->flat<tensorflow::tstring>().data(), out->NumElements());
  }
  return ToTf(sample.ReadColumn(i, out->data(), out->TotalBytes()));
}

absl::Status ReadColumnAt(const Sample& sample, int i, int64_t first_element,
                          tensorflow::Tensor* out) {
  const ColumnView column = sample.column(i);
  if (column.dtype == DType::kString) {
    int64_t num_elements = 1;
    for (int axis = 0; axis < column.rank; ++axis) num_elements *= column.dims[axis];
    return ReadStrings(sample, i, column.num_rows,
                       out->flat<tensorflow::tstring>().data() + first_element, num_elements);
  }
  char* const target = static_cast<char*>(out->data()) + first_element * DTypeSize(column.dtype);
  return ToTf(sample.ReadColumn(i, target, column.num_bytes));
}

size_t DecodedBytes(const Sample& sample) {
  size_t bytes = 0;
  for (int i = 0; i < sample.num_columns(); ++i) bytes += sample.column(i).num_bytes;
  return bytes;
}

absl::Status ReadFirstRow(const Sample& sample, int i, tensorflow::Tensor* out) {
  if (out->dtype() == tensorflow::DT_STRING) {
    return ReadStrings(sample, i, 1, out->flat<tensorflow::tstring>().data(), out->NumElements());
  }
  return ToTf(sample.ReadRows(i, 0, 1, out->data(), out->TotalBytes()));
}

absl::Status ReadIntoPart(const Sample& sample, int i, int64_t num_rows, int64_t part,
                          int64_t num_parts, tensorflow::Tensor* out) {
  if (out->dtype() == tensorflow::DT_STRING) {
    const int64_t size = out->NumElements() / num_parts;
    return ReadStrings(sample, i, num_rows, out->flat<tensorflow::tstring>().data() + part * size,
                       size);
  }
  const size_t bytes = out->TotalBytes() / num_parts;
  return ToTf(
      sample.ReadRows(i, 0, num_rows, static_cast<char*>(out->data()) + part * bytes, bytes));
}

}  // namespace reverb_tf::ops

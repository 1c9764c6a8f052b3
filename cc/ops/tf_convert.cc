#include "cc/ops/tf_convert.h"

#include <string>
#include <utility>

#include "tensorflow/core/platform/tstring.h"

namespace reverb_tf::ops {
namespace {

absl::Status ReadStrings(const Sample& sample, int i, int64_t num_rows, int64_t first_element,
                         int64_t num_elements, tensorflow::Tensor* out) {
  Result<std::vector<std::string_view>> strings = sample.ReadStrings(i, 0, num_rows);
  if (!strings.ok()) return ToTf(strings.status());
  auto flat = out->flat<tensorflow::tstring>();
  if (static_cast<size_t>(num_elements) != strings->size()) {
    return absl::DataLossError("Column " + std::to_string(i) + " has " +
                               std::to_string(strings->size()) + " strings where its shape says " +
                               std::to_string(num_elements) + ".");
  }
  for (int64_t k = 0; k < num_elements; ++k)
    flat(first_element + k).assign((*strings)[k].data(), (*strings)[k].size());
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

absl::Status ColumnShape(const ColumnView& column, tensorflow::TensorShape* shape) {
  return tensorflow::TensorShapeUtils::MakeShape(column.dims, column.rank, shape);
}

absl::Status RowShape(const ColumnView& column, tensorflow::TensorShape* shape) {
  if (column.squeezed) return ColumnShape(column, shape);
  return tensorflow::TensorShapeUtils::MakeShape(column.dims + 1, column.rank - 1, shape);
}

absl::Status ReadColumn(const Sample& sample, int i, tensorflow::Tensor* out) {
  if (out->dtype() == tensorflow::DT_STRING)
    return ReadStrings(sample, i, sample.column(i).num_rows, 0, out->NumElements(), out);
  return ToTf(sample.ReadColumn(i, out->data(), out->TotalBytes()));
}

absl::Status ReadColumnAt(const Sample& sample, int i, int64_t first_element,
                          tensorflow::Tensor* out) {
  const ColumnView column = sample.column(i);
  if (column.dtype == DType::kString) {
    int64_t num_elements = 1;
    for (int axis = 0; axis < column.rank; ++axis) num_elements *= column.dims[axis];
    return ReadStrings(sample, i, column.num_rows, first_element, num_elements, out);
  }
  char* const target = static_cast<char*>(out->data()) + first_element * DTypeSize(column.dtype);
  return ToTf(sample.ReadColumn(i, target, column.num_bytes));
}

absl::Status ReadFirstRow(const Sample& sample, int i, tensorflow::Tensor* out) {
  if (out->dtype() == tensorflow::DT_STRING)
    return ReadStrings(sample, i, 1, 0, out->NumElements(), out);
  return ToTf(sample.ReadRows(i, 0, 1, out->data(), out->TotalBytes()));
}

}  // namespace reverb_tf::ops

#include "cc/ops/batch_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cc/ops/padding.h"
#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {

using ::tensorflow::DataType;
using ::tensorflow::DataTypeVector;
using ::tensorflow::PartialTensorShape;
using ::tensorflow::Tensor;
using ::tensorflow::TensorShape;

namespace {

BatchLayout::Column ColumnKind(Varying varying, const PartialTensorShape& shape) {
  if (varying == Varying::kPad && !shape.IsFullyDefined()) return BatchLayout::Column::kPadded;
  if (varying == Varying::kRagged && shape.dims() > 0 && shape.dim_size(0) < 0)
    return BatchLayout::Column::kRagged;
  return BatchLayout::Column::kUniform;
}

absl::Status RowTensorShape(const Sample& sample, int i, TensorShape* shape) {
  return ColumnShape(sample.column(i), shape);
}

Dims DimsOf(const TensorShape& shape) {
  Dims dims(shape.dims());
  for (int i = 0; i < shape.dims(); ++i) dims[i] = shape.dim_size(i);
  return dims;
}

absl::Status Misfit(const BatchLayout& layout, int i, const TensorShape& a, const TensorShape& b) {
  return absl::InvalidArgumentError(
      "Trajectories of table '" + layout.table + "' differ in shape at flattened index " +
      std::to_string(i) + ": " + a.DebugString() + " and " + b.DebugString() +
      " are to be in one batch.  Use varying='pad' to pad with zeros, or varying='ragged' for "
      "tf.RaggedTensors where only the number of steps differs.");
}

template <typename T, typename Get>
Tensor InfoTensor(tensorflow::Allocator* allocator, const std::vector<SampleInfo>& infos, Get get) {
  Tensor tensor(allocator, tensorflow::DataTypeToEnum<T>::value,
                TensorShape({static_cast<int64_t>(infos.size())}));
  T* const values = tensor.flat<T>().data();
  for (size_t i = 0; i < infos.size(); ++i) values[i] = get(infos[i]);
  return tensor;
}

}  // namespace

absl::Status BatchLayout::Make(std::string table, int64_t batch_size, Varying varying,
                               DataTypeVector dtypes, std::vector<PartialTensorShape> shapes,
                               BatchLayout* layout) {
  layout->table = std::move(table);
  layout->batch_size = batch_size;
  layout->varying = varying;
  layout->dtypes.assign(dtypes.begin() + kNumInfoTensors, dtypes.end());
  layout->shapes.assign(shapes.begin() + kNumInfoTensors, shapes.end());
  layout->columns.clear();
  for (size_t i = 0; i < layout->shapes.size(); ++i) {
    if (varying == Varying::kRagged && layout->shapes[i].unknown_rank()) {
      return absl::InvalidArgumentError("varying='ragged' needs shapes of known rank; component " +
                                        std::to_string(i) + " of the data has none.");
    }
    layout->columns.push_back(ColumnKind(varying, layout->shapes[i]));
  }
  return absl::OkStatus();
}

void BatchLayout::AppendComponents(int64_t rows, DataTypeVector* out_dtypes,
                                   std::vector<PartialTensorShape>* out_shapes) const {
  const auto add = [&](DataType dtype, PartialTensorShape shape) {
    out_dtypes->push_back(dtype);
    out_shapes->push_back(std::move(shape));
  };
  for (const DataType dtype : {tensorflow::DT_UINT64, tensorflow::DT_DOUBLE, tensorflow::DT_INT64,
                               tensorflow::DT_DOUBLE, tensorflow::DT_INT32}) {
    add(dtype, PartialTensorShape({rows}));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == Column::kRagged) {
      add(dtypes[i], shapes[i]);
      add(tensorflow::DT_INT64, PartialTensorShape({rows < 0 ? -1 : rows + 1}));
    } else {
      add(dtypes[i], PartialTensorShape({rows}).Concatenate(shapes[i]));
    }
  }
}

void BatchLayout::AppendLengths(int64_t rows, DataTypeVector* out_dtypes,
                                std::vector<PartialTensorShape>* out_shapes) const {
  if (!has_lengths()) return;
  for (size_t i = 0; i < columns.size(); ++i) {
    out_dtypes->push_back(tensorflow::DT_INT64);
    out_shapes->push_back(PartialTensorShape({rows}));
  }
}

BatchBuilder::BatchBuilder(const BatchLayout* layout, tensorflow::Allocator* allocator)
    : layout_(layout), allocator_(allocator), uniform_(layout->columns.size()) {
  infos_.reserve(layout->batch_size);
  keep_ = std::any_of(layout->columns.begin(), layout->columns.end(), [](BatchLayout::Column kind) {
    return kind != BatchLayout::Column::kUniform;
  });
  if (layout->has_lengths()) lengths_.resize(layout->columns.size());
}

absl::Status BatchBuilder::Add(Sample sample) {
  const int num_columns = static_cast<int>(layout_->columns.size());
  if (sample.num_columns() != num_columns) {
    return absl::InvalidArgumentError("A trajectory of table '" + layout_->table + "' has " +
                                      std::to_string(sample.num_columns()) + " columns; " +
                                      std::to_string(num_columns) + " were requested.");
  }
  for (int i = 0; i < num_columns; ++i) {
    const ColumnView view = sample.column(i);
    if (!lengths_.empty()) lengths_[i].push_back(view.rank == 0 ? 1 : view.dims[0]);
    if (layout_->columns[i] == BatchLayout::Column::kUniform) {
      TF_RETURN_IF_ERROR(AddRow(sample, i, view));
    } else {
      TF_RETURN_IF_ERROR(CheckRow(i, view));
    }
  }
  infos_.push_back(sample.info());
  ++size_;
  if (keep_) kept_.push_back(std::move(sample));
  return absl::OkStatus();
}

absl::Status BatchBuilder::CheckRow(int i, const ColumnView& view) const {
  TensorShape row;
  TF_RETURN_IF_ERROR(ColumnShape(view, &row));
  if (layout_->shapes[i].IsCompatibleWith(row)) return absl::OkStatus();
  return absl::InvalidArgumentError("A trajectory of table '" + layout_->table + "' has shape " +
                                    row.DebugString() + " at flattened index " + std::to_string(i) +
                                    "; requested was " + layout_->shapes[i].DebugString() + ".");
}

absl::Status BatchBuilder::AddRow(const Sample& sample, int i, const ColumnView& view) {
  Uniform& column = uniform_[i];
  if (size_ == 0) {
    TF_RETURN_IF_ERROR(CheckRow(i, view));
    TensorShape shape;
    TF_RETURN_IF_ERROR(ColumnShape(view, &shape));
    column.row_dims = DimsOf(shape);
    column.row_elements = shape.num_elements();
    TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, layout_->batch_size));
    column.batch = Tensor(allocator_, layout_->dtypes[i], shape);
  } else if (!std::equal(view.dims, view.dims + view.rank, column.row_dims.begin(),
                         column.row_dims.end())) {
    TF_RETURN_IF_ERROR(CheckRow(i, view));
    TensorShape row;
    TF_RETURN_IF_ERROR(ColumnShape(view, &row));
    TensorShape first = column.batch.shape();
    first.RemoveDim(0);
    return Misfit(*layout_, i, first, row);
  }
  return ReadColumnAt(sample, i, size_ * column.row_elements, &column.batch);
}

absl::Status BatchBuilder::Finish(std::vector<Tensor>* element) {
  AppendInfos(element);
  for (size_t i = 0; i < layout_->columns.size(); ++i) {
    switch (layout_->columns[i]) {
      case BatchLayout::Column::kUniform:
        element->push_back(size_ < layout_->batch_size ? uniform_[i].batch.Slice(0, size_)
                                                       : std::move(uniform_[i].batch));
        break;
      case BatchLayout::Column::kPadded:
        element->emplace_back();
        TF_RETURN_IF_ERROR(FinishPadded(i, &element->back()));
        break;
      case BatchLayout::Column::kRagged: {
        Tensor values, splits;
        TF_RETURN_IF_ERROR(FinishRagged(i, &values, &splits));
        element->push_back(std::move(values));
        element->push_back(std::move(splits));
      }
    }
  }
  return absl::OkStatus();
}

void BatchBuilder::FinishLengths(std::vector<Tensor>* element) {
  for (const std::vector<int64_t>& lengths : lengths_) {
    Tensor tensor(allocator_, tensorflow::DT_INT64, TensorShape({size_}));
    std::copy(lengths.begin(), lengths.end(), tensor.flat<int64_t>().data());
    element->push_back(std::move(tensor));
  }
}

absl::Status BatchBuilder::FinishPadded(int i, Tensor* batch) const {
  std::vector<TensorShape> rows(kept_.size());
  Dims large;
  for (size_t k = 0; k < kept_.size(); ++k) {
    TF_RETURN_IF_ERROR(RowTensorShape(kept_[k], i, &rows[k]));
    if (rows[k].dims() != rows[0].dims()) return Misfit(*layout_, i, rows[0], rows[k]);
    const Dims dims = DimsOf(rows[k]);
    if (k == 0) large = dims;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      large[axis] = std::max(large[axis], dims[axis]);
  }
  TensorShape row_shape;
  TF_RETURN_IF_ERROR(TensorShape::BuildTensorShape(large, &row_shape));
  TensorShape shape = row_shape;
  TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, size_));
  *batch = Tensor(allocator_, layout_->dtypes[i], shape);
  const int64_t row_elements = row_shape.num_elements();
  for (size_t k = 0; k < kept_.size(); ++k) {
    const int64_t begin = static_cast<int64_t>(k) * row_elements;
    if (rows[k] == row_shape) {
      TF_RETURN_IF_ERROR(ReadColumnAt(kept_[k], i, begin, batch));
      continue;
    }
    Tensor small(allocator_, layout_->dtypes[i], rows[k]);
    TF_RETURN_IF_ERROR(ReadColumn(kept_[k], i, &small));
    if (layout_->dtypes[i] == tensorflow::DT_STRING) {
      const auto from = small.flat<tensorflow::tstring>();
      auto to = batch->flat<tensorflow::tstring>();
      ForEachRun(DimsOf(rows[k]), large, [&](int64_t f, int64_t t, int64_t n) {
        for (int64_t e = 0; e < n; ++e) to(begin + t + e) = from(f + e);
      });
      continue;
    }
    const size_t size = tensorflow::DataTypeSize(layout_->dtypes[i]);
    const char* const from = static_cast<const char*>(small.data());
    char* const to = static_cast<char*>(batch->data()) + begin * size;
    std::memset(to, 0, row_elements * size);
    ForEachRun(DimsOf(rows[k]), large, [&](int64_t f, int64_t t, int64_t n) {
      std::memcpy(to + t * size, from + f * size, n * size);
    });
  }
  return absl::OkStatus();
}

absl::Status BatchBuilder::FinishRagged(int i, Tensor* values, Tensor* splits) const {
  *splits = Tensor(allocator_, tensorflow::DT_INT64, TensorShape({size_ + 1}));
  auto bounds = splits->flat<int64_t>();
  bounds(0) = 0;
  TensorShape first;
  for (size_t k = 0; k < kept_.size(); ++k) {
    TensorShape row;
    TF_RETURN_IF_ERROR(RowTensorShape(kept_[k], i, &row));
    bounds(k + 1) = bounds(k) + row.dim_size(0);
    TensorShape step = row;
    step.RemoveDim(0);
    if (k == 0) first = row;
    TensorShape first_step = first;
    first_step.RemoveDim(0);
    if (step != first_step) return Misfit(*layout_, i, first, row);
  }
  first.RemoveDim(0);
  TensorShape shape = first;
  TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, bounds(size_)));
  *values = Tensor(allocator_, layout_->dtypes[i], shape);
  for (size_t k = 0; k < kept_.size(); ++k) {
    TF_RETURN_IF_ERROR(ReadColumnAt(kept_[k], i, bounds(k) * first.num_elements(), values));
  }
  return absl::OkStatus();
}

void BatchBuilder::AppendInfos(std::vector<Tensor>* element) const {
  element->push_back(
      InfoTensor<uint64_t>(allocator_, infos_, [](const SampleInfo& info) { return info.key; }));
  element->push_back(InfoTensor<double>(allocator_, infos_,
                                        [](const SampleInfo& info) { return info.probability; }));
  element->push_back(InfoTensor<int64_t>(allocator_, infos_,
                                         [](const SampleInfo& info) { return info.table_size; }));
  element->push_back(
      InfoTensor<double>(allocator_, infos_, [](const SampleInfo& info) { return info.priority; }));
  element->push_back(InfoTensor<int32_t>(
      allocator_, infos_, [](const SampleInfo& info) { return info.times_sampled; }));
}

}  // namespace reverb_tf::ops

#include "cc/ops/sample_element.h"

#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {

using ::tensorflow::Allocator;
using ::tensorflow::Tensor;

namespace {

template <typename T>
Tensor ScalarTensor(Allocator* allocator, T value) {
  Tensor tensor(allocator, tensorflow::DataTypeToEnum<T>::value, tensorflow::TensorShape({}));
  tensor.scalar<T>()() = value;
  return tensor;
}

}  // namespace

void AppendInfo(Allocator* allocator, const SampleInfo& info, std::vector<Tensor>* element) {
  element->push_back(ScalarTensor<uint64_t>(allocator, info.key));
  element->push_back(ScalarTensor<double>(allocator, info.probability));
  element->push_back(ScalarTensor<int64_t>(allocator, info.table_size));
  element->push_back(ScalarTensor<double>(allocator, info.priority));
  element->push_back(ScalarTensor<int32_t>(allocator, info.times_sampled));
}

absl::Status AppendColumns(Allocator* allocator, const Sample& sample,
                           std::vector<Tensor>* element) {
  for (int i = 0; i < sample.num_columns(); ++i) {
    const ColumnView column = sample.column(i);
    tensorflow::TensorShape shape;
    TF_RETURN_IF_ERROR(ColumnShape(column, &shape));
    element->emplace_back(allocator, ToTf(column.dtype), shape);
    TF_RETURN_IF_ERROR(ReadColumn(sample, i, &element->back()));
  }
  return absl::OkStatus();
}

}  // namespace reverb_tf::ops

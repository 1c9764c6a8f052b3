// From this library's types to TensorFlow's and back.
#ifndef REVERB_TF_OPS_TF_CONVERT_H_
#define REVERB_TF_OPS_TF_CONVERT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace reverb_tf::ops {

// Components of a sample that come before its columns: key, probability, table_size, priority,
// times_sampled.
inline constexpr int kNumInfoTensors = 5;

// The numbers of codes and dtypes are the same on both sides.
absl::Status ToTf(const Status& status);
inline tensorflow::DataType ToTf(DType dtype) { return static_cast<tensorflow::DataType>(dtype); }
inline DType FromTf(tensorflow::DataType dtype) { return static_cast<DType>(dtype); }

TensorSpec FromTf(tensorflow::DataType dtype, const tensorflow::PartialTensorShape& shape);

// The name in a string tensor of one element. INVALID_ARGUMENT: it has another number of them.
absl::Status ReadTableName(const tensorflow::Tensor& tensor, std::string* table);

// INVALID_ARGUMENT unless there are no output_shapes or one for each of `num_data` data outputs.
absl::Status CheckNumShapes(int num_shapes, int num_data);

// INVALID_ARGUMENT, naming the table, unless the sample has as many columns as were requested.
absl::Status CheckNumColumns(const std::string& table, const Sample& sample, int num_requested);

// Views of tensors, with what the views point to. The tensors must outlive it.
class TensorViews {
 public:
  void Add(const tensorflow::Tensor& tensor);
  const TensorView* data() const { return views_.data(); }
  int32_t size() const { return static_cast<int32_t>(views_.size()); }

 private:
  std::vector<TensorView> views_;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<std::vector<std::string_view>> strings_;
};

// Of all columns of a sample; strings do not count.
size_t DecodedBytes(const Sample& sample);

// The shape of column `column`, and of one of its rows.
absl::Status ColumnShape(const ColumnView& column, tensorflow::TensorShape* shape);
absl::Status RowShape(const ColumnView& column, tensorflow::TensorShape* shape);

// Decode column i, or its first row, straight into `out`, which has the dtype and shape of that.
absl::Status ReadColumn(const Sample& sample, int i, tensorflow::Tensor* out);
// Decodes column i into the elements of `out` from `first_element` on; they are there, of its
// dtype.
absl::Status ReadColumnAt(const Sample& sample, int i, int64_t first_element,
                          tensorflow::Tensor* out);
absl::Status ReadFirstRow(const Sample& sample, int i, tensorflow::Tensor* out);

// Decodes the first `num_rows` rows of column i into the part number `part` of the `num_parts`
// equal parts of `out`, which has the dtype and shape of those rows.
absl::Status ReadIntoPart(const Sample& sample, int i, int64_t num_rows, int64_t part,
                          int64_t num_parts, tensorflow::Tensor* out);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_TF_CONVERT_H_

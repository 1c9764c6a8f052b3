// Samples, decoded into the rows of a batch.
#ifndef REVERB_TF_OPS_BATCH_BUILDER_H_
#define REVERB_TF_OPS_BATCH_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "reverb_tf/sample.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace reverb_tf::ops {

// What becomes of trajectories of different shapes in one batch.
enum class Varying { kError, kPad, kRagged };

struct BatchLayout {
  // kUniform: one tensor; all rows have the same shape. kPadded: one tensor; smaller rows are
  // filled up with zeros (empty strings). kRagged: all steps of all rows after one another, and
  // int64 row splits.
  enum class Column { kUniform, kPadded, kRagged };

  // INVALID_ARGUMENT: ragged rows of unknown rank. `dtypes` and `shapes` are those of one sample,
  // the five of the info first.
  static absl::Status Make(std::string table, int64_t batch_size, Varying varying,
                           tensorflow::DataTypeVector dtypes,
                           std::vector<tensorflow::PartialTensorShape> shapes, BatchLayout* layout);

  // Appends the types and shapes of the components: info and data, or the lengths, if any. `rows`
  // is how many there are, -1 for unknown.
  void AppendComponents(int64_t rows, tensorflow::DataTypeVector* dtypes,
                        std::vector<tensorflow::PartialTensorShape>* shapes) const;
  void AppendLengths(int64_t rows, tensorflow::DataTypeVector* dtypes,
                     std::vector<tensorflow::PartialTensorShape>* shapes) const;

  bool has_lengths() const { return varying == Varying::kPad; }

  std::string table;
  int64_t batch_size = 1;
  Varying varying = Varying::kError;
  // Of the data.
  tensorflow::DataTypeVector dtypes;
  std::vector<tensorflow::PartialTensorShape> shapes;
  std::vector<Column> columns;
};

// One batch. Not thread-safe. Samples whose columns all are uniform are decoded as they come and
// let go; others are kept until the batch is finished. Errors are INVALID_ARGUMENT for a sample
// that does not fit, naming table and column, and DATA_LOSS.
class BatchBuilder {
 public:
  // Both must outlive the builder.
  BatchBuilder(const BatchLayout* layout, tensorflow::Allocator* allocator);

  // At most layout->batch_size times.
  absl::Status Add(Sample sample);
  int64_t size() const { return size_; }

  const std::vector<SampleInfo>& infos() const { return infos_; }

  // Appends the components of the layout, to be called once and in this order.
  absl::Status Finish(std::vector<tensorflow::Tensor>* element);
  void FinishLengths(std::vector<tensorflow::Tensor>* element);

 private:
  // A column whose rows are decoded as they come.
  struct Uniform {
    tensorflow::Tensor batch;
    std::vector<int64_t> row_dims;
    int64_t row_elements = 0;
  };

  absl::Status CheckRow(int i, const ColumnView& view) const;
  absl::Status AddRow(const Sample& sample, int i, const ColumnView& view);
  absl::Status FinishPadded(int i, tensorflow::Tensor* batch) const;
  absl::Status FinishRagged(int i, tensorflow::Tensor* values, tensorflow::Tensor* splits) const;
  void AppendInfos(std::vector<tensorflow::Tensor>* element) const;

  const BatchLayout* const layout_;
  tensorflow::Allocator* const allocator_;
  int64_t size_ = 0;
  std::vector<SampleInfo> infos_;
  std::vector<Uniform> uniform_;               // by column; empty for the others
  std::vector<Sample> kept_;                   // if any column needs them
  bool keep_ = false;                          // whether one does
  std::vector<std::vector<int64_t>> lengths_;  // by column, if the layout has them
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_BATCH_BUILDER_H_

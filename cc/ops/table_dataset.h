// What the datasets of items that are sampled from tables share.
#ifndef REVERB_TF_OPS_TABLE_DATASET_H_
#define REVERB_TF_OPS_TABLE_DATASET_H_

#include <string>
#include <utility>
#include <vector>

#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "reverb_tf/tensor.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// A source that depends on what is in a table.
class TableDataset : public tensorflow::data::DatasetBase {
 public:
  using DatasetBase::DatasetBase;

  absl::Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override {
    inputs->clear();
    return absl::OkStatus();
  }

  absl::Status CheckExternalState() const override {
    return absl::FailedPreconditionError(DebugString() +
                                         " depends on external state: the table on the server.");
  }

 protected:
  // The attributes of a node, as AddDataset takes them.
  class Attributes {
   public:
    explicit Attributes(DatasetGraphDefBuilder* builder) : builder_(builder) {}

    template <typename T>
    void Add(absl::string_view name, const T& value) {
      list_.emplace_back(name, tensorflow::AttrValue());
      builder_->BuildAttrValue(value, &list_.back().second);
    }
    const std::vector<std::pair<absl::string_view, tensorflow::AttrValue>>& list() const {
      return list_;
    }

   private:
    DatasetGraphDefBuilder* const builder_;
    std::vector<std::pair<absl::string_view, tensorflow::AttrValue>> list_;
  };
};

// Specs of the data in the components of an element, which begin with the sample info.
inline std::vector<TensorSpec> DataSpecs(
    const tensorflow::DataTypeVector& dtypes,
    const std::vector<tensorflow::PartialTensorShape>& shapes) {
  std::vector<TensorSpec> data;
  for (size_t i = kNumInfoTensors; i < dtypes.size(); ++i) {
    data.push_back(FromTf(dtypes[i], shapes[i]));
  }
  return data;
}

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_TABLE_DATASET_H_

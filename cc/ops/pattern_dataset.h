// The tf.data dataset of the trajectories that patterns make of the steps of another dataset.
#ifndef REVERB_TF_OPS_PATTERN_DATASET_H_
#define REVERB_TF_OPS_PATTERN_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "tensorflow/core/data/captured_function.h"
#include "tensorflow/core/framework/dataset.h"

namespace reverb_tf::ops {

// The attributes of the op.
struct PatternDatasetOptions {
  bool clear_after_episode = false;
  std::vector<std::string> configs;
  tensorflow::DataTypeVector dtypes;
  std::vector<tensorflow::PartialTensorShape> shapes;
};

// Holds a reference to its input.
class PatternDataset : public tensorflow::data::DatasetBase {
 public:
  using EndOfEpisode = tensorflow::data::CapturedFunction;

  // StepMatcher accepts the configs.
  PatternDataset(tensorflow::OpKernelContext* ctx, const DatasetBase* input,
                 std::unique_ptr<EndOfEpisode> is_end_of_episode, PatternDatasetOptions options);
  ~PatternDataset() override;

  const DatasetBase& input() const { return *input_; }
  EndOfEpisode& is_end_of_episode() const { return *is_end_of_episode_; }
  const PatternDatasetOptions& options() const { return options_; }

  std::unique_ptr<tensorflow::data::IteratorBase> MakeIteratorInternal(
      const std::string& prefix) const override;
  const tensorflow::DataTypeVector& output_dtypes() const override { return options_.dtypes; }
  const std::vector<tensorflow::PartialTensorShape>& output_shapes() const override {
    return options_.shapes;
  }
  std::string DebugString() const override { return type_string(); }
  int64_t CardinalityInternal(tensorflow::data::CardinalityOptions options) const override;
  absl::Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override;
  absl::Status CheckExternalState() const override;

 protected:
  absl::Status AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                  DatasetGraphDefBuilder* b,
                                  tensorflow::Node** output) const override;

 private:
  const DatasetBase* const input_;
  const std::unique_ptr<EndOfEpisode> is_end_of_episode_;
  const PatternDatasetOptions options_;
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_PATTERN_DATASET_H_

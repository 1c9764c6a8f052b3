#include "cc/ops/pattern_dataset.h"

#include <utility>

#include "cc/ops/pattern_iterator.h"

namespace reverb_tf::ops {

using ::tensorflow::data::DatasetBase;

PatternDataset::PatternDataset(tensorflow::OpKernelContext* ctx, const DatasetBase* input,
                               std::unique_ptr<EndOfEpisode> is_end_of_episode,
                               PatternDatasetOptions options)
    : DatasetBase(tensorflow::data::DatasetContext(ctx)),
      input_(input),
      is_end_of_episode_(std::move(is_end_of_episode)),
      options_(std::move(options)) {
  input_->Ref();
}

PatternDataset::~PatternDataset() { input_->Unref(); }

std::unique_ptr<tensorflow::data::IteratorBase> PatternDataset::MakeIteratorInternal(
    const std::string& prefix) const {
  return MakePatternIterator(this, prefix + "::" + type_string());
}

int64_t PatternDataset::CardinalityInternal(tensorflow::data::CardinalityOptions options) const {
  const int64_t n = input_->Cardinality(options);
  return n == tensorflow::data::kInfiniteCardinality ? n : tensorflow::data::kUnknownCardinality;
}

absl::Status PatternDataset::InputDatasets(std::vector<const DatasetBase*>* inputs) const {
  *inputs = {input_};
  return absl::OkStatus();
}

absl::Status PatternDataset::CheckExternalState() const {
  TF_RETURN_IF_ERROR(is_end_of_episode_->CheckExternalState());
  return input_->CheckExternalState();
}

absl::Status PatternDataset::AsGraphDefInternal(tensorflow::data::SerializationContext* ctx,
                                                DatasetGraphDefBuilder* b,
                                                tensorflow::Node** output) const {
  tensorflow::Node* input = nullptr;
  TF_RETURN_IF_ERROR(b->AddInputDataset(ctx, input_, &input));
  std::vector<tensorflow::Node*> other_arguments;
  tensorflow::DataTypeVector argument_types;
  TF_RETURN_IF_ERROR(is_end_of_episode_->AddToGraph(ctx, b, &other_arguments, &argument_types));
  std::vector<std::pair<absl::string_view, tensorflow::AttrValue>> attrs;
  const auto add = [b, &attrs](absl::string_view name, const auto& value) {
    attrs.emplace_back(name, tensorflow::AttrValue());
    b->BuildAttrValue(value, &attrs.back().second);
  };
  add("clear_after_episode", options_.clear_after_episode);
  add("configs", options_.configs);
  add("is_end_of_episode", is_end_of_episode_->func());
  add("Targuments", argument_types);
  add("dtypes", options_.dtypes);
  add("shapes", options_.shapes);
  return b->AddDataset(this, {{0, input}}, {{1, other_arguments}}, attrs, output);
}

}  // namespace reverb_tf::ops

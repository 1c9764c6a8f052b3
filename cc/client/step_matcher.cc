#include "reverb_tf/step_matcher.h"

#include <utility>

#include "cc/client/structured_writer_config.h"
#include "cc/client/structured_writer_matcher.h"

namespace reverb_tf {
namespace client {
namespace {

class StepMatcherImpl : public StepMatcher {
 public:
  explicit StepMatcherImpl(std::vector<PatternConfig> configs) : matcher_(std::move(configs)) {}

  int32_t history() const override { return matcher_.history(); }

  Status Append(const TensorView* values, int32_t n, Items* items) override {
    items->clear();
    REVERB_TF_RETURN_IF_ERROR(matcher_.Check(values, n));
    refs_.resize(static_cast<size_t>(n));
    for (int32_t i = 0; i < n; ++i) refs_[i] = {i, num_steps_};
    matcher_.Add(values, n, refs_.data(), /*partial=*/false);
    ++num_steps_;
    FindItems(false, items);
    return OkStatus();
  }

  void EndEpisode(bool clear_buffers, Items* items) override {
    FindItems(true, items);
    matcher_.EndEpisode(clear_buffers);
  }

 private:
  void FindItems(bool end_of_episode, Items* items) {
    items->clear();
    matcher_.FindMatches(end_of_episode, &matches_);
    for (const PatternMatch& match : matches_) items->push_back(*match.columns);
  }

  PatternMatcher matcher_;
  int64_t num_steps_ = 0;
  std::vector<StepRef> refs_;  // scratch
  std::vector<PatternMatch> matches_;
};

}  // namespace
}  // namespace client

Result<std::unique_ptr<StepMatcher>> StepMatcher::Create(const std::vector<std::string>& configs) {
  Result<std::vector<client::PatternConfig>> parsed = client::ParsePatternConfigs(configs);
  if (!parsed.ok()) return parsed.status();
  for (client::PatternConfig& config : *parsed) config.priority = client::PatternPriority();
  return std::unique_ptr<StepMatcher>(
      std::make_unique<client::StepMatcherImpl>(std::move(parsed).value()));
}

}  // namespace reverb_tf

// The structured writer: a trajectory writer whose items a matcher chooses.
#ifndef REVERB_TF_CLIENT_STRUCTURED_WRITER_IMPL_H_
#define REVERB_TF_CLIENT_STRUCTURED_WRITER_IMPL_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "cc/client/fork_guard.h"
#include "cc/client/structured_writer_config.h"
#include "cc/client/structured_writer_matcher.h"
#include "cc/core/clock.h"
#include "reverb_tf/structured_writer.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::client {

class StructuredWriterImpl : public StructuredWriter {
 public:
  // How long the destructor waits for confirmations.
  inline static constexpr Duration kLastFlush = std::chrono::seconds(1);

  // `writer` must keep as many steps as the configs' longest history. `clock` must outlive this.
  StructuredWriterImpl(std::vector<PatternConfig> configs, std::unique_ptr<TrajectoryWriter> writer,
                       core::Clock* clock);
  ~StructuredWriterImpl() override;

  Status Append(const TensorView* values, int32_t n, bool partial,
                const WaitOptions& wait) override;
  Status Flush(int64_t max_pending, const WaitOptions& wait) override;
  Status EndEpisode(bool clear_buffers, const WaitOptions& wait) override;
  bool step_is_open() const override { return matcher_.step_is_open(); }
  bool uses_column(int32_t column) const override { return matcher_.uses_column(column); }

 private:
  void FindMatches(bool end_of_episode);
  // Makes the items of matches_ from next_match_ on; takes the time that needs off the timeout.
  Status CreateItems(WaitOptions* wait);

  const ForkGuard fork_guard_;
  core::Clock* const clock_;
  PatternMatcher matcher_;
  std::unique_ptr<TrajectoryWriter> writer_;
  std::vector<PatternMatch> matches_;
  size_t next_match_ = 0;
  std::vector<TensorView> views_;  // scratch of Append
  std::vector<StepRef> refs_;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_STRUCTURED_WRITER_IMPL_H_

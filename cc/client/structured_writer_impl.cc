#include "cc/client/structured_writer_impl.h"

#include <algorithm>
#include <utility>

#include "cc/client/log.h"

namespace reverb_tf::client {

StructuredWriterImpl::StructuredWriterImpl(std::vector<PatternConfig> configs,
                                           std::unique_ptr<TrajectoryWriter> writer,
                                           core::Clock* clock)
    : clock_(clock), matcher_(std::move(configs)), writer_(std::move(writer)) {}

StructuredWriterImpl::~StructuredWriterImpl() {
  if (fork_guard_.forked()) return;
  WaitOptions wait;
  wait.timeout = kLastFlush;
  const Status status = Flush(0, wait);
  if (status.ok()) return;
  LogWarning("A structured writer ends while items are unconfirmed, which are lost: " +
             status.message());
}

Status StructuredWriterImpl::Append(const TensorView* values, int32_t n, bool partial,
                                    const WaitOptions& wait) {
  WaitOptions rest = wait;
  REVERB_TF_RETURN_IF_ERROR(CreateItems(&rest));
  REVERB_TF_RETURN_IF_ERROR(matcher_.Check(values, n));
  views_.assign(values, values + n);
  for (int32_t i = 0; i < n; ++i) {
    if (!matcher_.uses_column(i)) views_[i] = TensorView();
  }
  refs_.assign(static_cast<size_t>(n), StepRef());
  REVERB_TF_RETURN_IF_ERROR(writer_->Append(views_.data(), n, partial, refs_.data()));
  matcher_.Add(values, n, refs_.data(), partial);
  FindMatches(false);
  return CreateItems(&rest);
}

void StructuredWriterImpl::FindMatches(bool end_of_episode) {
  matcher_.FindMatches(end_of_episode, &matches_);
  next_match_ = 0;
}

Status StructuredWriterImpl::CreateItems(WaitOptions* wait) {
  const bool limited = wait->timeout != kInfiniteDuration;
  while (next_match_ < matches_.size()) {
    const PatternMatch& match = matches_[next_match_];
    const core::TimePoint start = limited ? clock_->Now() : core::TimePoint();
    const Status status =
        writer_->CreateItem(*match.table, match.priority, *match.columns, *wait).status();
    if (limited) {
      const Duration used = clock_->Now() - start;
      wait->timeout = std::max(Duration::zero(), wait->timeout - used);
    }
    // What was only interrupted is made later; what was refused would be again.
    if (status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kCancelled) {
      return status;
    }
    ++next_match_;
    REVERB_TF_RETURN_IF_ERROR(status);
  }
  return OkStatus();
}

Status StructuredWriterImpl::Flush(int64_t max_pending, const WaitOptions& wait) {
  WaitOptions rest = wait;
  REVERB_TF_RETURN_IF_ERROR(CreateItems(&rest));
  return writer_->Flush(max_pending, rest);
}

Status StructuredWriterImpl::EndEpisode(bool clear_buffers, const WaitOptions& wait) {
  WaitOptions rest = wait;
  REVERB_TF_RETURN_IF_ERROR(CreateItems(&rest));
  FindMatches(true);
  REVERB_TF_RETURN_IF_ERROR(CreateItems(&rest));
  REVERB_TF_RETURN_IF_ERROR(writer_->EndEpisode(clear_buffers, rest));
  matcher_.EndEpisode(clear_buffers);
  return OkStatus();
}

}  // namespace reverb_tf::client

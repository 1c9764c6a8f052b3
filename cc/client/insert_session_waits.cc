// Waits for an insert session that hold no thread.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "cc/client/insert_session.h"
#include "cc/client/log.h"

namespace reverb_tf::client {
namespace {

// The server is asked what it does a little before that is logged.
constexpr auto kAskAfter = std::chrono::seconds(9);
constexpr auto kLogAfter = std::chrono::seconds(10);
constexpr auto kAskBeforeTimeout = std::chrono::milliseconds(100);

}  // namespace

CancelFunction InsertSession::WhenConfirmed(int64_t max_unconfirmed, const std::string& what,
                                            Duration timeout, SessionWaits::Callback callback) {
  return Wait({max_unconfirmed, what, timeout, std::move(callback)});
}

CancelFunction InsertSession::WhenRoom(Duration timeout, SessionWaits::Callback callback) {
  if (full_.load(std::memory_order_relaxed)) {
    return Wait({SessionWaits::kRoom, "CreateItem", timeout, std::move(callback)});
  }
  callback(status());
  return [] {};
}

CancelFunction InsertSession::Wait(SessionWaits::Wait wait) {
  uint64_t number = 0;
  Status status;
  {
    MutexLock lock(&mu_);
    status = status_;
    const bool waits = wait.max_unconfirmed == SessionWaits::kRoom
                           ? full_.load(std::memory_order_relaxed)
                           : unconfirmed_ > wait.max_unconfirmed;
    if (status.ok() && waits) {
      wait.since = endpoint_->clock()->Now();
      number = waits_.Add(std::move(wait));
      SetTimer(number);
      if (!watching_) Watch(waits_.Oldest()->since + kAskAfter);
    }
  }
  if (number == 0) {
    wait.callback(status);
    return [] {};
  }
  return [weak = weak_from_this(), number] {
    const std::shared_ptr<InsertSession> self = weak.lock();
    if (self == nullptr) return;
    std::vector<SessionWaits::Wait> taken;
    {
      MutexLock lock(&self->mu_);
      taken = self->waits_.Take(number);
    }
    self->EndWaits(taken, CancelledError("The wait was cancelled."));
  };
}

void InsertSession::EndWaits(const std::vector<SessionWaits::Wait>& waits, const Status& status) {
  for (const SessionWaits::Wait& wait : waits) {
    if (wait.timer != core::Clock::kNoTimer) endpoint_->clock()->Cancel(wait.timer);
    wait.callback(status);
  }
}

void InsertSession::SetTimer(uint64_t number) {
  SessionWaits::Wait& wait = *waits_.Find(number);
  const core::TimePoint deadline = DeadlineAfter(wait.since, wait.timeout);
  if (deadline == core::kNoDeadline) return;
  // The server is asked early enough to know the answer at the end.
  const core::TimePoint ask = wait.since + std::min<Duration>(kAskBeforeTimeout, wait.timeout / 2);
  const core::TimePoint when = endpoint_->clock()->Now() < ask ? ask : deadline;
  wait.timer = endpoint_->clock()->CallAt(when, [weak = weak_from_this(), number] {
    if (const auto self = weak.lock()) self->OnTimer(number);
  });
}

void InsertSession::OnTimer(uint64_t number) {
  std::vector<SessionWaits::Wait> over;
  {
    MutexLock lock(&mu_);
    const SessionWaits::Wait* const wait = waits_.Find(number);
    if (wait == nullptr) return;
    if (endpoint_->clock()->Now() < DeadlineAfter(wait->since, wait->timeout)) {
      SetTimer(number);
    } else {
      over = waits_.Take(number);
    }
  }
  if (over.empty()) return endpoint_->RefreshServerInfo();
  EndWaits(over, DeadlineExceededError("Timeout exceeded after " + DurationText(over[0].timeout) +
                                       " (Deadline Exceeded): " + DescribeWait(over[0].what)));
}

// One timer for all waits, which is not cancelled when they end: most are over in no time.
void InsertSession::Watch(core::TimePoint when) {
  watching_ = true;
  endpoint_->clock()->CallAt(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnWatch();
  });
}

void InsertSession::OnWatch() {
  std::string what;
  bool ask = false;
  {
    MutexLock lock(&mu_);
    watching_ = false;
    SessionWaits::Wait* oldest = waits_.Oldest();
    if (oldest == nullptr) return;
    const Duration waited = endpoint_->clock()->Now() - oldest->since;
    ask = waited >= kAskAfter && waited < kLogAfter;
    if (waited >= kLogAfter) {
      oldest->told = true;
      what = oldest->what;
      oldest = waits_.Oldest();
    }
    if (oldest != nullptr) Watch(oldest->since + (ask ? kLogAfter : kAskAfter));
  }
  if (ask) endpoint_->RefreshServerInfo();
  if (!what.empty()) LogWarning("still waiting after 10 s: " + DescribeWait(what));
}

}  // namespace reverb_tf::client

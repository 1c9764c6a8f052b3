// Waits for an insert session that hold no thread.
#include <chrono>
#include <utility>

#include "cc/client/insert_session.h"
#include "cc/client/log.h"

namespace reverb_tf::client {
namespace {

// The server is asked what it does a little before that is logged.
constexpr auto kAskAfter = std::chrono::seconds(9);
constexpr auto kLogAfter = std::chrono::seconds(10);

}  // namespace

CancelFunction InsertSession::WhenConfirmed(int64_t max_unconfirmed, const std::string& what,
                                            SessionWaits::Callback callback) {
  return Wait({max_unconfirmed, what, {}, std::move(callback)});
}

CancelFunction InsertSession::WhenRoom(SessionWaits::Callback callback) {
  if (full_.load(std::memory_order_relaxed)) {
    return Wait({SessionWaits::kRoom, "CreateItem", {}, std::move(callback)});
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
    SessionWaits::Callback callback;
    {
      MutexLock lock(&self->mu_);
      callback = self->waits_.Take(number);
    }
    if (callback) callback(CancelledError("The wait was cancelled."));
  };
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

#include "cc/server/checkpointer.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

namespace reverb_tf::server {
namespace {

using std::chrono::steady_clock;

constexpr auto kInterruptPeriod = std::chrono::milliseconds(100);
constexpr int kNice = 10;

core::TimePoint After(Duration timeout) {
  const core::TimePoint now = steady_clock::now();
  return timeout >= core::kNoDeadline - now ? core::kNoDeadline
                                            : now + std::max(timeout, Duration::zero());
}

Status StoppedError() {
  return CancelledError("the server was stopped before the checkpoint was complete");
}

}  // namespace

Checkpointer::Checkpointer(std::unique_ptr<checkpoint::Store> store,
                           std::vector<std::shared_ptr<core::Table>> tables, Duration every,
                           Warn warn)
    : store_(std::move(store)), tables_(std::move(tables)), every_(every), warn_(std::move(warn)) {}

Checkpointer::~Checkpointer() = default;

void Checkpointer::Start() {
  thread_ = std::thread([self = shared_from_this()] { self->Run(); });
}

void Checkpointer::Request(Callback callback) {
  {
    MutexLock lock(&mu_);
    if (!stopping_) {
      waiting_.push_back(std::move(callback));
      changed_.NotifyAll();
      return;
    }
  }
  callback(StoppedError());
}

Result<std::string> Checkpointer::RequestAndWait(const WaitOptions& wait) {
  struct State {
    Mutex mu;
    CondVar changed;
    std::optional<Result<std::string>> result GUARDED_BY(mu);
  };
  auto state = std::make_shared<State>();
  const core::TimePoint deadline = After(wait.timeout);
  Request([state](Result<std::string> result) {
    MutexLock lock(&state->mu);
    state->result.emplace(std::move(result));
    state->changed.NotifyAll();
  });
  while (true) {
    {
      MutexLock lock(&state->mu);
      const core::TimePoint now = steady_clock::now();
      const core::TimePoint wake =
          wait.interrupted ? std::min(deadline, now + kInterruptPeriod) : deadline;
      if (!state->result && now < deadline) {
        if (wake == core::kNoDeadline) {
          state->changed.Wait(&state->mu);
        } else {
          state->changed.WaitUntil(&state->mu, wake);
        }
      }
      if (state->result) return *std::move(state->result);
      if (steady_clock::now() >= deadline) {
        return DeadlineExceededError(
            "the checkpoint was not complete before the timeout; it is "
            "being written all the same");
      }
    }
    if (wait.interrupted && wait.interrupted()) {
      return CancelledError(
          "waiting for the checkpoint was interrupted; it is being written all the same");
    }
  }
}

bool Checkpointer::WaitForWork() {
  const core::TimePoint due = every_ > Duration::zero() ? After(every_) : core::kNoDeadline;
  MutexLock lock(&mu_);
  while (!stopping_ && waiting_.empty() && steady_clock::now() < due) {
    if (due == core::kNoDeadline) {
      changed_.Wait(&mu_);
    } else {
      changed_.WaitUntil(&mu_, due);
    }
  }
  if (stopping_) return false;
  served_.swap(waiting_);
  return true;
}

void Checkpointer::Run() {
  // Of this thread alone, on Linux: calls of clients come before what is written beside them.
  setpriority(PRIO_PROCESS, 0, kNice);
  while (WaitForWork()) {
    const Result<std::string> result = Save();
    std::vector<Callback> served;
    bool stopping = false;
    {
      MutexLock lock(&mu_);
      served.swap(served_);
      stopping = stopping_;
    }
    if (!result.ok() && served.empty() && !stopping) {
      warn_("a checkpoint could not be written: " + result.status().ToString());
    }
    Answer(std::move(served), result);
  }
  std::vector<Callback> waiting;
  {
    MutexLock lock(&mu_);
    waiting.swap(waiting_);
  }
  Answer(std::move(waiting), StoppedError());
  MutexLock lock(&mu_);
  ended_ = true;
  changed_.NotifyAll();
}

Result<std::string> Checkpointer::Save() {
  return store_->Save(core::Table::SnapshotAll(tables_), [this] { return interrupted_.load(); });
}

void Checkpointer::Answer(std::vector<Callback> callbacks, const Result<std::string>& result) {
  for (const Callback& callback : callbacks) callback(result);
}

bool Checkpointer::WaitUntilEnded(Duration limit) {
  const core::TimePoint deadline = After(limit);
  MutexLock lock(&mu_);
  while (!ended_ && steady_clock::now() < deadline) changed_.WaitUntil(&mu_, deadline);
  return ended_;
}

void Checkpointer::Stop(Duration patience, Duration patience_when_interrupted) {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (!thread_.joinable()) return;
  bool ended = WaitUntilEnded(patience);
  if (!ended) {
    interrupted_ = true;
    ended = WaitUntilEnded(patience_when_interrupted);
  }
  if (ended) {
    thread_.join();
    return;
  }
  // It holds a reference to this, and nobody waits for it any more.
  thread_.detach();
  std::vector<Callback> abandoned;
  {
    MutexLock lock(&mu_);
    abandoned.swap(served_);
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(abandoned));
    waiting_.clear();
  }
  Answer(std::move(abandoned), StoppedError());
}

}  // namespace reverb_tf::server

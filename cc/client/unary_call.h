// Unary calls: tried again while the server is away, and waited for.
#ifndef REVERB_TF_CLIENT_UNARY_CALL_H_
#define REVERB_TF_CLIENT_UNARY_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/endpoint.h"
#include "cc/client/retry.h"
#include "cc/client/transport.h"
#include "cc/client/wait.h"
#include "cc/core/mutex.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
const Status& StatusOf(const Result<T>& result) {
  return result.status();
}

// Why a call has no answer yet; shared by the call and who waits for it. Thread-safe.
class CallTrouble {
 public:
  void Set(Status cause) {
    MutexLock lock(&mu_);
    cause_ = std::move(cause);
  }
  Status Get() const {
    MutexLock lock(&mu_);
    return cause_;
  }

 private:
  mutable Mutex mu_;
  Status cause_ GUARDED_BY(mu_);
};

// One call, repeated after transient errors for the client's patience. R is Status or a Result.
// Thread-safe; kept alive by the attempt or timer it waits for.
template <typename R>
class UnaryCall : public std::enable_shared_from_this<UnaryCall<R>> {
 public:
  using Callback = std::function<void(R)>;
  using Attempt = std::function<CancelFunction(Transport* transport, Callback callback)>;

  // The callback comes once, from any thread, perhaps before this returns. `trouble` may be null.
  static CancelFunction Start(std::shared_ptr<Endpoint> endpoint, Attempt attempt,
                              Callback callback, std::shared_ptr<CallTrouble> trouble) {
    auto call = std::shared_ptr<UnaryCall>(new UnaryCall(std::move(endpoint), std::move(attempt),
                                                         std::move(callback), std::move(trouble)));
    call->Try();
    return [weak = std::weak_ptr<UnaryCall>(call)] {
      if (const auto call = weak.lock()) call->Cancel();
    };
  }

 private:
  UnaryCall(std::shared_ptr<Endpoint> endpoint, Attempt attempt, Callback callback,
            std::shared_ptr<CallTrouble> trouble)
      : endpoint_(std::move(endpoint)),
        attempt_(std::move(attempt)),
        trouble_(std::move(trouble)),
        retry_(endpoint_->options().patience, endpoint_->options().stop_patience),
        callback_(std::move(callback)) {}

  void Try() {
    Result<std::shared_ptr<Transport>> transport = endpoint_->transport();
    if (!transport.ok()) return Finish(transport.status());
    CancelFunction cancel = attempt_(
        transport->get(), [self = this->shared_from_this(), transport = *transport](R result) {
          self->OnResult(*transport, std::move(result));
        });
    bool cancelled = false;
    {
      MutexLock lock(&mu_);
      cancelled = callback_ == nullptr;
      if (!cancelled && !pausing_) cancel_ = std::move(cancel);
    }
    if (cancelled && cancel) cancel();
  }

  void OnResult(const Transport& transport, R result) {
    const Status& status = StatusOf(result);
    if (status.ok() || !transport.IsTransient(status)) return Finish(std::move(result));
    if (trouble_ != nullptr) trouble_->Set(status);
    std::optional<core::TimePoint> when;
    Status exhausted;
    {
      MutexLock lock(&mu_);
      if (callback_ == nullptr) return;
      when = retry_.NextTry(endpoint_->clock()->Now(), status);
      if (!when) exhausted = retry_.Exhausted(endpoint_->address(), status);
      cancel_ = nullptr;
      pausing_ = when.has_value();
    }
    if (!when) return Finish(exhausted);
    endpoint_->clock()->CallAt(*when, [self = this->shared_from_this()] {
      {
        MutexLock lock(&self->mu_);
        self->pausing_ = false;
        if (self->callback_ == nullptr) return;
      }
      self->Try();
    });
  }

  void Cancel() {
    CancelFunction cancel;
    {
      MutexLock lock(&mu_);
      cancel.swap(cancel_);
    }
    Finish(CancelledError("The call was cancelled."));
    if (cancel) cancel();
  }

  void Finish(R result) {
    Callback callback;
    {
      MutexLock lock(&mu_);
      callback.swap(callback_);
    }
    if (callback) callback(std::move(result));
  }

  const std::shared_ptr<Endpoint> endpoint_;
  const Attempt attempt_;
  const std::shared_ptr<CallTrouble> trouble_;

  Mutex mu_;
  Retry retry_ GUARDED_BY(mu_);
  Callback callback_ GUARDED_BY(mu_);      // null: over
  CancelFunction cancel_ GUARDED_BY(mu_);  // of the attempt that is going on
  bool pausing_ GUARDED_BY(mu_) = false;
};

// Says what a blocked call waits for.
class CallSubject : public WaitSubject {
 public:
  // `what` as in "the answer to Reset of table 't'". The state of `tables`, whose limiters an
  // insert may wait for, is told.
  CallSubject(Endpoint* endpoint, std::string what, std::vector<std::string> tables = {})
      : endpoint_(endpoint),
        what_(std::move(what)),
        tables_(std::move(tables)),
        trouble_(std::make_shared<CallTrouble>()) {}

  void Refresh() override {
    if (!tables_.empty()) endpoint_->RefreshServerInfo();
  }
  std::string Describe() override {
    const Status cause = trouble_->Get();
    std::string text = "waiting for " + what_;
    if (!cause.ok()) {
      return text + ", but server " + endpoint_->address() +
             " cannot be reached: " + cause.message();
    }
    if (tables_.empty()) text += " of server " + endpoint_->address();
    for (const std::string& table : tables_) {
      text += "; " + endpoint_->DescribeTable(table, Endpoint::Operation::kInsert);
    }
    return text;
  }

  const std::shared_ptr<CallTrouble>& trouble() const { return trouble_; }

 private:
  Endpoint* const endpoint_;
  const std::string what_;
  const std::vector<std::string> tables_;
  const std::shared_ptr<CallTrouble> trouble_;
};

// Blocks until the callback that `start` is given was called, and returns what it got, or why that
// was not waited for (then the call is cancelled).
template <typename R>
R Await(core::Clock* clock, const WaitOptions& wait, CallSubject* subject,
        const std::function<CancelFunction(std::function<void(R)>)>& start) {
  struct State {
    Mutex mu;
    CondVar changed;
    std::optional<R> result GUARDED_BY(mu);
  };
  auto state = std::make_shared<State>();
  const CancelFunction cancel = start([state](R result) {
    MutexLock lock(&state->mu);
    state->result.emplace(std::move(result));
    state->changed.NotifyAll();
  });
  Status waited;
  {
    MutexLock lock(&state->mu);
    waited = BlockUntil(&state->mu, &state->changed, clock, wait, subject,
                        [&]() NO_THREAD_SAFETY_ANALYSIS { return state->result.has_value(); });
    if (state->result) return std::move(*state->result);
  }
  cancel();
  return waited;
}

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_UNARY_CALL_H_

#include "cc/ops/async_call.h"

#include <utility>

namespace reverb_tf::ops {

using ::tensorflow::AsyncOpKernel;
using ::tensorflow::OpKernelContext;

std::shared_ptr<AsyncCall> AsyncCall::Start(OpKernelContext* ctx,
                                            AsyncOpKernel::DoneCallback done) {
  std::shared_ptr<AsyncCall> call(new AsyncCall(ctx, std::move(done)));
  if (call->manager_ == nullptr) return call;
  call->token_ = call->manager_->get_cancellation_token();
  if (!call->manager_->RegisterCallback(call->token_, [call] { call->Cancel(); })) {
    ctx->SetStatus(absl::CancelledError("The step was cancelled before the op began."));
    call->done_();
    return nullptr;
  }
  return call;
}

void AsyncCall::SetStop(std::function<void()> stop) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (!cancelled_) {
      stop_ = std::move(stop);
      return;
    }
  }
  stop();
}

bool AsyncCall::cancelled() {
  std::lock_guard<std::mutex> lock(mu_);
  return cancelled_;
}

bool AsyncCall::Claim() {
  // Not DeregisterCallback: it would wait for a cancellation that is under way, which may itself be
  // waiting for the thread we are on.
  if (manager_ != nullptr && !manager_->TryDeregisterCallback(token_)) return false;
  std::function<void()> stop;  // destroyed outside the lock
  std::lock_guard<std::mutex> lock(mu_);
  stop.swap(stop_);
  return true;
}

void AsyncCall::Finish(const absl::Status& status) {
  if (!status.ok()) ctx_->SetStatus(status);
  done_();
}

void AsyncCall::Cancel() {
  std::function<void()> stop;
  {
    std::lock_guard<std::mutex> lock(mu_);
    cancelled_ = true;
    stop.swap(stop_);
  }
  ctx_->SetStatus(
      absl::CancelledError("The step was cancelled while the op waited for the server."));
  done_();
  if (stop) stop();
}

}  // namespace reverb_tf::ops

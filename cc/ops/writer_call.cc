#include "cc/ops/writer_call.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "cc/ops/tf_convert.h"

namespace reverb_tf::ops {

using CancelFunction = std::function<void()>;

struct WriterCall::Waits {
  std::mutex mu;
  size_t left = 0;                      // guarded by mu
  Status status;                        // guarded by mu: the first error
  std::vector<CancelFunction> cancels;  // guarded by mu: of the waits, once all have started

  // True when this was the last one.
  bool Over(const Status& ended) {
    std::vector<CancelFunction> others;
    bool last = false;
    {
      std::lock_guard<std::mutex> lock(mu);
      last = --left == 0;
      if (!ended.ok() && status.ok()) status = ended;
      if (!status.ok() || last) others.swap(cancels);
    }
    if (!last) {
      for (const CancelFunction& cancel : others) cancel();
    }
    return last;
  }

  void Cancel() {
    std::vector<CancelFunction> all;
    {
      std::lock_guard<std::mutex> lock(mu);
      all.swap(cancels);
    }
    for (const CancelFunction& cancel : all) cancel();
  }
};

void WriterCall::Start(tensorflow::OpKernelContext* ctx,
                       tensorflow::AsyncOpKernel::DoneCallback done, WriterPtr writer, Work work) {
  std::shared_ptr<AsyncCall> call = AsyncCall::Start(ctx, std::move(done));
  if (call == nullptr) return;
  const std::shared_ptr<WriterCall> self(new WriterCall(std::move(writer), std::move(call)));
  self->writer_->queue().Run([self, work = std::move(work)](SerialQueue::Done end_turn) {
    if (self->call_->cancelled()) {
      end_turn();
      return;
    }
    self->end_turn_ = std::move(end_turn);
    work(self);
  });
}

void WriterCall::WaitForAll(const std::vector<size_t>& environments, const StartWait& start,
                            Callback then) {
  const auto waits = std::make_shared<Waits>();
  // One more than there are, so that nothing is over before all have started.
  waits->left = environments.size() + 1;
  const auto over = [self = shared_from_this(), waits,
                     then = std::move(then)](const Status& ended) {
    if (waits->Over(ended)) then(waits->status);
  };
  std::vector<CancelFunction> cancels;
  cancels.reserve(environments.size());
  for (size_t environment : environments) {
    cancels.push_back(start(environment, [this, environment, over](const Status& ended) {
      over(writer_->InEnvironment(environment, ended));
    }));
  }
  bool waiting = false;
  {
    std::lock_guard<std::mutex> lock(waits->mu);
    waiting = waits->left > 1;
    waits->cancels = std::move(cancels);
  }
  if (waiting) call_->SetStop([waits] { waits->Cancel(); });
  over(OkStatus());
}

void WriterCall::End(const Status& status, const WriteOutputs& write) {
  end_turn_();
  if (!call_->Claim()) return;
  absl::Status result = ToTf(status);
  if (result.ok() && write) result = write(call_->context());
  call_->Finish(result);
}

absl::Status GetTimeout(tensorflow::OpKernelConstruction* ctx, Duration* timeout) {
  int64_t timeout_ms = 0;
  TF_RETURN_IF_ERROR(ctx->GetAttr("timeout_ms", &timeout_ms));
  // Longer ones would overflow, and are none.
  if (timeout_ms >= 0 && timeout_ms < int64_t{1} << 40) {
    *timeout = std::chrono::milliseconds(timeout_ms);
  }
  return absl::OkStatus();
}

std::vector<size_t> ChosenEnvironments(const tensorflow::Tensor& mask) {
  std::vector<size_t> chosen;
  const auto values = mask.flat<bool>();
  for (int64_t i = 0; i < values.size(); ++i) {
    if (values(i)) chosen.push_back(static_cast<size_t>(i));
  }
  return chosen;
}

}  // namespace reverb_tf::ops

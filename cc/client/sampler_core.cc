#include "cc/client/sampler_core.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/sample_impl.h"
#include "cc/client/sampler_options.h"
#include "cc/client/wait.h"

namespace reverb_tf::client {

class SamplerCore::Subject : public WaitSubject {
 public:
  explicit Subject(SamplerCore* core) : core_(core) {}
  void Refresh() override { core_->endpoint_->RefreshServerInfo(); }
  std::string Describe() override { return core_->Describe(); }

 private:
  SamplerCore* const core_;
};

SamplerCore::SamplerCore(std::shared_ptr<Endpoint> endpoint, SamplerOptions options)
    : endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      stream_samples_(StreamSamples(options_)),
      capacity_(Capacity(options_)) {
  for (int64_t i = 0; i < NumWorkers(options_); ++i) {
    workers_.emplace_back(endpoint_->options());
  }
}

Result<Sample> SamplerCore::Next(const WaitOptions& wait) {
  Work work;
  std::optional<Received> received;
  Status status;
  {
    MutexLock lock(&mu_);
    if (buffer_.empty() && !IsOver()) {
      ++blocked_;
      for (Worker& worker : workers_) worker.timed_out = false;
      work = Advance();
      mu_.Unlock();
      Do(std::move(work));
      work = Work();
      mu_.Lock();
      Subject subject(this);
      status = BlockUntil(&mu_, &changed_, endpoint_->clock(), wait, &subject,
                          [&]() NO_THREAD_SAFETY_ANALYSIS { return !buffer_.empty() || IsOver(); });
      --blocked_;
    }
    if (!buffer_.empty()) {
      received = Pop();
      work = Advance();
    } else if (status.ok()) {
      status = final_.ok() ? OutOfRangeError("The sampler has returned max_samples = " +
                                             std::to_string(options_.max_samples) + " samples.")
                           : final_;
    } else {
      Withdraw(&work);
    }
  }
  Do(std::move(work));
  if (!received) return status;
  return MakeSample(std::move(*received));
}

void SamplerCore::NextAsync(int64_t n, Sampler::Callback callback) {
  Work work;
  {
    MutexLock lock(&mu_);
    waiters_.insert(waiters_.end(), n, callback);
    if (buffer_.size() < waiters_.size()) {
      for (Worker& worker : workers_) worker.timed_out = false;
    }
    work = Advance();
    if (!waiters_.empty() && watch_ == core::Clock::kNoTimer) Watch(/*refreshed=*/false);
  }
  Do(std::move(work));
}

std::vector<Sample> SamplerCore::Take(int64_t n) {
  Work work;
  std::vector<Received> received;
  {
    MutexLock lock(&mu_);
    const size_t there = std::min(static_cast<size_t>(n), buffer_.size());
    if (there == 0) return {};
    received.reserve(there);
    while (received.size() < there) received.push_back(Pop());
    work = Advance();
  }
  Do(std::move(work));
  std::vector<Sample> samples;
  samples.reserve(received.size());
  for (Received& one : received) {
    Result<Sample> sample = MakeSample(std::move(one));
    if (!sample.ok()) break;  // which has ended the sampler
    samples.push_back(std::move(sample).value());
  }
  return samples;
}

bool SamplerCore::IsOver() const {
  return !final_.ok() || (options_.max_samples != -1 && returned_ >= options_.max_samples);
}

bool SamplerCore::SomeMayCome() const {
  return !buffer_.empty() ||
         std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.outstanding > 0; });
}

SamplerCore::Received SamplerCore::Pop() {
  Received received = std::move(buffer_.front());
  buffer_.pop_front();
  --reserved_;
  ++returned_;
  return received;
}

SamplerCore::Work SamplerCore::Advance() {
  Work work;
  while (!waiters_.empty() && !buffer_.empty()) {
    work.deliveries.push_back({std::move(waiters_.front()), Pop()});
    waiters_.pop_front();
  }
  if (waiters_.empty()) StopWatch();
  if (IsOver()) {
    if (!buffer_.empty()) return work;
    for (Sampler::Callback& callback : waiters_) work.ended.push_back(std::move(callback));
    waiters_.clear();
    StopWatch();
    changed_.NotifyAll();
    return work;
  }
  RequestMore(&work);
  return work;
}

int64_t SamplerCore::Demand() const {
  return blocked_ + static_cast<int64_t>(waiters_.size()) - reserved_;
}

int64_t SamplerCore::RequestSize(const Worker& worker) const {
  if (worker.outstanding > 0 || worker.pausing || worker.timed_out) return 0;
  const int64_t depth = options_.max_in_flight_samples_per_worker;
  const int64_t room = capacity_ - reserved_;
  if (room < (options_.request_ahead ? (depth + 1) / 2 : depth)) return 0;
  int64_t n =
      std::min({depth, room, worker.stream_left > 0 ? worker.stream_left : stream_samples_});
  if (options_.max_samples != -1) n = std::min(n, options_.max_samples - claimed_);
  if (options_.on_demand) n = std::min(n, Demand());
  return std::max<int64_t>(n, 0);
}

void SamplerCore::RequestMore(Work* work) {
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    Action action;
    action.worker = i;
    action.n = RequestSize(worker);
    if (action.n == 0) continue;
    if (worker.stream_left == 0) {
      action.cancel = std::move(worker.stream);
      worker.stream = nullptr;
      ++worker.generation;
      worker.stream_left = stream_samples_;
    }
    action.generation = worker.generation;
    action.stream = worker.stream;
    worker.outstanding = action.n;
    reserved_ += action.n;
    claimed_ += action.n;
    work->actions.push_back(std::move(action));
  }
}

void SamplerCore::Do(Work work) {
  for (Action& action : work.actions) {
    if (action.cancel != nullptr) action.cancel->Cancel();
    if (action.n > 0) Send(action);
  }
  for (Delivery& delivery : work.deliveries) {
    delivery.callback(MakeSample(std::move(delivery.received)));
  }
  if (work.ended.empty()) return;
  Status status;
  {
    MutexLock lock(&mu_);
    status = final_.ok() ? OutOfRangeError("The sampler has returned max_samples = " +
                                           std::to_string(options_.max_samples) + " samples.")
                         : final_;
  }
  for (Sampler::Callback& callback : work.ended) callback(status);
}

void SamplerCore::Withdraw(Work* work) {
  if (!options_.on_demand || Demand() >= 0) return;
  for (size_t i = 0; i < workers_.size() && Demand() < 0; ++i) {
    Worker& worker = workers_[i];
    if (worker.outstanding == 0) continue;
    Action action;
    action.worker = i;
    action.cancel = worker.stream;
    GiveBack(&worker);
    work->actions.push_back(std::move(action));
  }
  RequestMore(work);  // for callers that still wait
}

void SamplerCore::SetFinal(const Status& status, Work* work) {
  if (!final_.ok()) return;
  final_ = status;
  for (size_t i = 0; i < workers_.size(); ++i) {
    Action action;
    action.cancel = std::move(workers_[i].stream);
    workers_[i].stream = nullptr;
    if (action.cancel != nullptr) work->actions.push_back(std::move(action));
  }
  Work rest = Advance();
  for (Delivery& delivery : rest.deliveries) work->deliveries.push_back(std::move(delivery));
  for (Sampler::Callback& callback : rest.ended) work->ended.push_back(std::move(callback));
  changed_.NotifyAll();
}

void SamplerCore::End(const Status& status) {
  Work work;
  std::deque<Received> dropped;  // released without the lock
  {
    MutexLock lock(&mu_);
    dropped.swap(buffer_);
    reserved_ -= static_cast<int64_t>(dropped.size());
    if (final_.ok()) {
      SetFinal(status, &work);
    } else {
      final_ = status;
      changed_.NotifyAll();
    }
  }
  Do(std::move(work));
}

Result<Sample> SamplerCore::MakeSample(Received received) {
  std::unique_ptr<Sample::Impl> impl = Sample::Impl::Create(std::move(received.item), received.at);
  Status status = impl->Check(options_);
  if (!status.ok()) {
    End(status);
    return status;
  }
  return Sample(std::move(impl));
}

}  // namespace reverb_tf::client

namespace reverb_tf {

bool IsRateLimiterTimeout(const Status& status) {
  return status.code() == StatusCode::kDeadlineExceeded &&
         status.message().find("Timeout exceeded before the right to insert was acquired") !=
             std::string::npos;
}

}  // namespace reverb_tf

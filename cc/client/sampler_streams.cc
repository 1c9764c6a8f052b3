// What a sampler does with its streams.
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cc/client/sampler_core.h"
#include "cc/client/sampler_options.h"

namespace reverb_tf::client {
namespace {

// A stream that lived so long has reached its server: its loss is a new trouble, not the old one
// going on.
constexpr auto kHealthyStream = std::chrono::seconds(30);

}  // namespace

class SamplerCore::StreamObserver : public SampleStreamObserver {
 public:
  StreamObserver(std::weak_ptr<SamplerCore> core, size_t worker, uint64_t generation)
      : core_(std::move(core)), worker_(worker), generation_(generation) {}

  void OnSamples(std::vector<core::SampledItem> samples) override {
    if (const auto core = core_.lock()) {
      core->OnSamples(worker_, generation_, std::move(samples));
    }
  }
  void OnClosed(const Status& why) override {
    if (const auto core = core_.lock()) core->OnStreamClosed(worker_, generation_, why);
  }

 private:
  const std::weak_ptr<SamplerCore> core_;
  const size_t worker_;
  const uint64_t generation_;
};

void SamplerCore::Send(const Action& action) {
  std::shared_ptr<SampleStream> stream = action.stream;
  if (stream == nullptr) {
    Result<std::shared_ptr<Transport>> transport = endpoint_->transport();
    if (!transport.ok()) return End(transport.status());
    // The stream may end before it is noted down: then its generation is over.
    const auto is_over = [&]() NO_THREAD_SAFETY_ANALYSIS {
      return !final_.ok() || workers_[action.worker].generation != action.generation;
    };
    {
      MutexLock lock(&mu_);
      if (is_over()) return;
      workers_[action.worker].transport = *transport;
      workers_[action.worker].since = endpoint_->clock()->Now();
    }
    stream = (*transport)
                 ->OpenSampleStream({options_.table, options_.align_arrays},
                                    std::make_shared<StreamObserver>(
                                        weak_from_this(), action.worker, action.generation));
    bool over = false;
    {
      MutexLock lock(&mu_);
      over = is_over();
      if (!over) workers_[action.worker].stream = stream;
    }
    if (over) return stream->Cancel();
  }
  stream->Request(
      {action.n, options_.rate_limiter_timeout, options_.min_version, options_.unless_version});
}

void SamplerCore::OnSamples(size_t index, uint64_t generation,
                            std::vector<core::SampledItem> samples) {
  const core::TimePoint now = endpoint_->clock()->Now();
  Work work;
  {
    MutexLock lock(&mu_);
    Worker& worker = workers_[index];
    const int64_t n = static_cast<int64_t>(samples.size());
    if (!final_.ok() || worker.generation != generation) return;
    if (n > worker.outstanding) {
      SetFinal(InternalError("The server sent more samples than were asked for."), &work);
    } else {
      worker.outstanding -= n;
      worker.stream_left -= n;
      worker.retry.Reset();
      for (core::SampledItem& sample : samples) buffer_.push_back({std::move(sample), now});
      work = Advance();
      if (blocked_ == 1) {
        changed_.NotifyOne();
      } else if (blocked_ > 0) {
        changed_.NotifyAll();
      }
    }
  }
  Do(std::move(work));
}

void SamplerCore::GiveBack(Worker* worker) {
  reserved_ -= worker->outstanding;
  claimed_ -= worker->outstanding;
  worker->outstanding = 0;
  worker->stream_left = 0;
  worker->stream = nullptr;
  ++worker->generation;
}

void SamplerCore::OnStreamClosed(size_t index, uint64_t generation, const Status& why) {
  Work work;
  std::shared_ptr<SampleStream> stream;  // released without the lock
  {
    MutexLock lock(&mu_);
    Worker& worker = workers_[index];
    if (!final_.ok() || worker.generation != generation) return;
    stream = worker.stream;
    const std::shared_ptr<Transport> transport = std::move(worker.transport);
    worker.transport = nullptr;
    const bool asked = worker.outstanding > 0;
    GiveBack(&worker);
    if (IsRateLimiterTimeout(why)) {
      worker.timed_out = true;
      if (blocked_ + waiters_.size() > 0 && !SomeMayCome()) SetFinal(why, &work);
    } else if (transport == nullptr || !transport->IsTransient(why)) {
      SetFinal(why, &work);
    } else if (asked) {
      ScheduleRetry(index, why);
      if (!worker.pausing) {
        SetFinal(worker.retry.Exhausted(endpoint_->address(), why), &work);
      }
    }
  }
  Do(std::move(work));
}

void SamplerCore::ScheduleRetry(size_t index, const Status& why) {
  Worker& worker = workers_[index];
  const core::TimePoint now = endpoint_->clock()->Now();
  if (now - worker.since >= kHealthyStream) worker.retry.Reset();
  worker.last_cause = why;
  const auto when = worker.retry.NextTry(now, why);
  if (!when) return;
  worker.pausing = true;
  endpoint_->clock()->CallAt(*when, [weak = weak_from_this(), index] {
    const std::shared_ptr<SamplerCore> self = weak.lock();
    if (self == nullptr) return;
    Work work;
    {
      MutexLock lock(&self->mu_);
      self->workers_[index].pausing = false;
      work = self->Advance();
    }
    self->Do(std::move(work));
  });
}

}  // namespace reverb_tf::client

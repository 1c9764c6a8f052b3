// The state that a sampler, its streams and its waiting callers share.
#ifndef REVERB_TF_CLIENT_SAMPLER_CORE_H_
#define REVERB_TF_CLIENT_SAMPLER_CORE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/endpoint.h"
#include "cc/client/retry.h"
#include "cc/client/transport.h"
#include "cc/core/mutex.h"
#include "cc/core/table.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Each worker has at most one stream with at most one request. A request reserves its room first (a
// whole in-flight depth, or half of it with request_ahead), and room becomes free only as samples
// are returned: with one worker the next one is sent when the last sample of the one before is
// handed out, or the last of its first half. What a request does not deliver is given back, so that
// exactly max_samples are taken.
//
// Thread-safe. See Sampler for the meaning of the calls.
class SamplerCore : public std::enable_shared_from_this<SamplerCore> {
 public:
  SamplerCore(std::shared_ptr<Endpoint> endpoint, SamplerOptions options);

  Result<Sample> Next(const WaitOptions& wait) EXCLUDES(mu_);
  void NextAsync(int64_t n, Sampler::Callback callback) EXCLUDES(mu_);
  std::vector<Sample> Take(int64_t n) EXCLUDES(mu_);
  void Close() EXCLUDES(mu_) { End(CancelledError("The sampler is closed.")); }

  const Endpoint& endpoint() const { return *endpoint_; }

 private:
  class StreamObserver;
  class Subject;

  struct Worker {
    explicit Worker(const ClientOptions& options)
        : retry(options.patience, options.stop_patience) {}
    std::shared_ptr<SampleStream> stream;
    std::shared_ptr<Transport> transport;  // of the stream
    uint64_t generation = 0;               // of the stream: events of older ones are ignored
    core::TimePoint since;                 // when the stream was opened
    int64_t stream_left = 0;               // samples until the stream is replaced
    int64_t outstanding = 0;               // requested, not received
    bool pausing = false;                  // until a reconnection
    bool timed_out = false;                // asks again only when a caller waits
    Status last_cause;
    Retry retry;
  };
  // A request to be sent, or a stream to be cancelled, once the lock is released.
  struct Action {
    size_t worker = 0;
    int64_t n = 0;
    uint64_t generation = 0;
    std::shared_ptr<SampleStream> stream;  // null: to be opened
    std::shared_ptr<SampleStream> cancel;
  };
  struct Received {
    core::SampledItem item;
    core::TimePoint at;
  };
  struct Delivery {
    Sampler::Callback callback;
    Received received;
  };
  // What is left to do without the lock.
  struct Work {
    std::vector<Action> actions;
    std::vector<Delivery> deliveries;
    std::vector<Sampler::Callback> ended;  // get the final status
  };

  void OnSamples(size_t worker, uint64_t generation, std::vector<core::SampledItem> samples)
      EXCLUDES(mu_);
  void OnStreamClosed(size_t worker, uint64_t generation, const Status& why) EXCLUDES(mu_);

  // Sends the requests that can be sent, hands out what can be handed out.
  Work Advance() REQUIRES(mu_);
  void RequestMore(Work* work) REQUIRES(mu_);
  int64_t RequestSize(const Worker& worker) const REQUIRES(mu_);
  int64_t Demand() const REQUIRES(mu_);
  void Do(Work work) EXCLUDES(mu_);
  void Send(const Action& action) EXCLUDES(mu_);
  Received Pop() REQUIRES(mu_);
  Result<Sample> MakeSample(Received received) EXCLUDES(mu_);
  // Everything that was asked of the worker's stream and did not come is given back.
  void GiveBack(Worker* worker) REQUIRES(mu_);
  // In on-demand mode, when a caller has given up: takes back requests that nobody waits for.
  void Withdraw(Work* work) REQUIRES(mu_);
  void ScheduleRetry(size_t index, const Status& why) REQUIRES(mu_);
  bool IsOver() const REQUIRES(mu_);
  // A sample is buffered or on its way, or its request waits in the table.
  bool SomeMayCome() const REQUIRES(mu_);
  // Buffered samples can still be had after SetFinal; End drops them.
  void SetFinal(const Status& status, Work* work) REQUIRES(mu_);
  void End(const Status& status) EXCLUDES(mu_);
  std::string Describe() EXCLUDES(mu_);
  // While callers of NextAsync wait: after 10 s it is logged, once, what for.
  void Watch(bool refreshed) REQUIRES(mu_);
  void StopWatch() REQUIRES(mu_);
  void OnWatch(bool refreshed, uint64_t number) EXCLUDES(mu_);

  const std::shared_ptr<Endpoint> endpoint_;
  const SamplerOptions options_;
  const int64_t stream_samples_;  // of one stream
  const int64_t capacity_;        // samples requested or buffered

  Mutex mu_;
  CondVar changed_;
  std::vector<Worker> workers_ GUARDED_BY(mu_);
  std::deque<Received> buffer_ GUARDED_BY(mu_);
  std::deque<Sampler::Callback> waiters_ GUARDED_BY(mu_);  // of NextAsync
  int64_t blocked_ GUARDED_BY(mu_) = 0;                    // callers in Next
  int64_t reserved_ GUARDED_BY(mu_) = 0;                   // requested or buffered
  int64_t claimed_ GUARDED_BY(mu_) = 0;                    // requested, buffered or returned
  int64_t returned_ GUARDED_BY(mu_) = 0;
  core::Clock::TimerId watch_ GUARDED_BY(mu_) = core::Clock::kNoTimer;
  uint64_t watch_number_ GUARDED_BY(mu_) = 0;
  Status final_ GUARDED_BY(mu_);  // not OK: no more requests
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_SAMPLER_CORE_H_

// The samples of several servers as one stream. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_SAMPLE_MIXER_H_
#define REVERB_TF_OPS_SAMPLE_MIXER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reverb_tf/sample.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"
#include "reverb_tf/wait.h"

namespace reverb_tf::ops {

struct SampleMixerOptions {
  int64_t max_samples = -1;  // the stream ends after so many; -1: no end
  // True: a rate limiter's timeout is the end of its server's samples for now, and the end of the
  // stream when no server that can be reached has any. False: it is an error.
  bool ends_on_timeout = false;
  // Samples that were received longer ago are dropped when their turn comes; they do not count.
  Duration max_age = kInfiniteDuration;
  // Ask a server for as many as the caller wants, not for one at a time. For samplers that take
  // samples only on demand, which keep their order so; with one server only.
  bool on_demand = false;
  // What follows matters with several servers only; the errors of a single one are the stream's.
  // How long none of them may be reachable.
  Duration patience = std::chrono::seconds(60);
  // A new sampler that has not failed for so long has reached its server.
  Duration settled_after = std::chrono::seconds(5);
  // Pauses before a server that was lost is tried again: the first, doubled each time, the longest.
  Duration first_pause = std::chrono::milliseconds(500);
  Duration longest_pause = std::chrono::seconds(30);
  // Before a server whose limiter timed out is asked again while others go on.
  Duration idle_pause = std::chrono::milliseconds(100);
  // A server that stays lost is reported again after so long.
  Duration report_every = std::chrono::seconds(60);
};

// Each server has one sampler at a time, made when it is needed. Samples come in the order in which
// they arrive; servers that all have some take turns. A server that cannot be reached, or stops, is
// reported and tried again while the others go on; one that comes back is reported too.
//
// With one server exactly max_samples are taken from the table (and one more for each that is
// dropped). With several, each may have taken as many more as its sampler keeps in flight, and one.
//
// Thread-safe. Nothing happens between calls but what the samplers do by themselves.
class SampleMixer {
 public:
  // Of a sampler that ends with OUT_OF_RANGE after `max_samples` (-1: never). Must not block.
  using MakeSampler = std::function<Result<std::unique_ptr<Sampler>>(int64_t max_samples)>;
  struct Server {
    std::string address;
    MakeSampler make_sampler;
  };
  using Clock = std::chrono::steady_clock;
  using Report = std::function<void(const std::string& line)>;
  struct Mixed {
    Sample sample;
    int server;  // index
  };

  // At least one server. `report` is called without locks, from the threads of Next and of the
  // samplers.
  SampleMixer(std::vector<Server> servers, SampleMixerOptions options, Report report);
  // Closes.
  ~SampleMixer() { Close(); }
  SampleMixer(const SampleMixer&) = delete;
  SampleMixer& operator=(const SampleMixer&) = delete;

  // Blocks until a sample is there; `wanted` >= 1 says how many the caller is going to ask for in a
  // row. Nothing: the end of the stream, which stays. UNAVAILABLE names the servers that could not
  // be reached. CANCELLED: closed. Other errors are those of a sampler, and stay.
  Result<std::optional<Mixed>> Next(int64_t wanted);

  // Ends waiting and later calls. Idempotent; from any thread.
  void Close();

 private:
  // Outlives the mixer while callbacks of samplers are on their way.
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_SAMPLE_MIXER_H_

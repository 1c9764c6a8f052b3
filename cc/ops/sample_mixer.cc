#include "cc/ops/sample_mixer.h"

#include <algorithm>
#include <utility>

namespace reverb_tf::ops {
namespace {

using Clock = SampleMixer::Clock;
using TimePoint = Clock::time_point;

// How often the pauses are looked at while a server is away.
constexpr auto kTick = std::chrono::milliseconds(20);

std::string Seconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

class SampleMixer::State : public std::enable_shared_from_this<State> {
 public:
  State(std::vector<Server> servers, SampleMixerOptions options, Report report)
      : options_(options), report_(std::move(report)) {
    for (Server& server : servers) {
      sources_.emplace_back();
      sources_.back().server = std::move(server);
      sources_.back().pause = options_.first_pause;
    }
  }

  Result<std::optional<Mixed>> Next(int64_t wanted);
  void Close();

 private:
  // kUp: its sampler delivers, or waits for the limiter. kIdle: its limiter timed out. kLost: it
  // cannot be reached, or has not answered since it was tried again.
  enum class Phase { kUp, kIdle, kLost };

  struct Source {
    Server server;
    Phase phase = Phase::kUp;
    std::shared_ptr<Sampler> sampler;  // null: to be made
    uint64_t generation = 0;           // what calls of before Close() say is ignored
    int64_t asked = 0;                 // calls of the sampler that have not returned
    Status ended;                      // of the sampler; looked at when all calls have returned
    int64_t idle_at = -1;              // arrived_ when it became idle
    TimePoint again_at;                // not to be asked before
    TimePoint lost_at;
    TimePoint tried_at;  // when the sampler of a lost server was made
    TimePoint reported_at;
    Duration pause{};
    Status cause;  // why it was lost
  };

  // Calls of a sampler that are to be made.
  struct Request {
    int index = -1;  // of the source; -1: all that can be asked were
    int64_t times = 0;
    uint64_t generation = 0;
    std::shared_ptr<Sampler> sampler;  // null: to be made, for so many samples
    int64_t max_samples = -1;
  };

  bool several() const { return sources_.size() > 1; }
  // All with mu_ held.
  std::optional<Mixed> TakeReady();
  bool IsOver() const { return options_.max_samples != -1 && taken_ >= options_.max_samples; }
  int64_t Remaining() const;
  Request ChooseRequest(int64_t wanted);
  bool MayAsk(const Source& source, TimePoint now) const;
  bool AllWait(bool* any_idle) const;
  bool NoneReachable(TimePoint now);
  Status Unreachable() const;
  void Wait(std::unique_lock<std::mutex>* lock);
  // Of a single server: takes over, into ready_, what its sampler has, at most n samples. False:
  // there was nothing to be had so. Lets go of the lock meanwhile.
  bool TakeOver(int64_t n, std::unique_lock<std::mutex>* lock);
  void OnEnded(Source* source, const Status& why, std::string* line);
  void Lose(Source* source, const Status& why, std::string* line);
  void Found(Source* source, std::string* line);

  // All without mu_.
  void Ask(const Request& request);
  void OnSample(int index, uint64_t generation, Result<Sample> sample);
  void Say(const std::string& line) const {
    if (!line.empty()) report_(line);
  }

  const SampleMixerOptions options_;
  const Report report_;

  std::mutex mu_;
  std::condition_variable changed_;
  // The rest is guarded by mu_.
  std::vector<Source> sources_;
  std::deque<Mixed> ready_;
  int turn_ = 0;         // the server to be asked first
  int64_t taken_ = 0;    // returned to callers
  int64_t arrived_ = 0;  // from all servers
  int64_t waiting_ = 0;  // threads
  bool ended_ = false;
  Status error_;  // of a sampler, or closed
};

SampleMixer::SampleMixer(std::vector<Server> servers, SampleMixerOptions options, Report report)
    : state_(std::make_shared<State>(std::move(servers), options, std::move(report))) {}

Result<std::optional<SampleMixer::Mixed>> SampleMixer::Next(int64_t wanted) {
  return state_->Next(wanted);
}

void SampleMixer::Close() { state_->Close(); }

Result<std::optional<SampleMixer::Mixed>> SampleMixer::State::Next(int64_t wanted) {
  std::unique_lock<std::mutex> lock(mu_);
  while (true) {
    if (std::optional<Mixed> mixed = TakeReady()) {
      if (waiting_ > 0) changed_.notify_one();  // to ask for itself
      return mixed;
    }
    if (!error_.ok()) return error_;
    if (ended_ || IsOver()) {
      changed_.notify_all();  // who waits beside this caller has nothing to wait for either
      return std::optional<Mixed>();
    }
    if (TakeOver(wanted, &lock)) continue;
    const Request request = ChooseRequest(wanted);
    if (request.index >= 0) {
      lock.unlock();
      Ask(request);
      lock.lock();
      continue;
    }
    bool any_idle = false;
    if (AllWait(&any_idle) && any_idle) {
      ended_ = true;
      changed_.notify_all();
    } else if (NoneReachable(Clock::now())) {
      error_ = Unreachable();
      changed_.notify_all();
    } else {
      Wait(&lock);
    }
  }
}

std::optional<SampleMixer::Mixed> SampleMixer::State::TakeReady() {
  while (!ready_.empty() && !IsOver()) {
    Mixed mixed = std::move(ready_.front());
    ready_.pop_front();
    if (options_.max_age != kInfiniteDuration &&
        Clock::now() - mixed.sample.info().received_at > options_.max_age) {
      continue;
    }
    ++taken_;
    return mixed;
  }
  return std::nullopt;
}

int64_t SampleMixer::State::Remaining() const {
  if (options_.max_samples == -1) return -1;
  const int64_t have = taken_ + static_cast<int64_t>(ready_.size());
  return std::max<int64_t>(0, options_.max_samples - have);
}

SampleMixer::State::Request SampleMixer::State::ChooseRequest(int64_t wanted) {
  const int n = static_cast<int>(sources_.size());
  const int64_t most = options_.on_demand && !several() ? wanted : 1;
  const TimePoint now = several() ? Clock::now() : TimePoint();
  for (int i = 0; i < n; ++i) {
    const int index = turn_ + i < n ? turn_ + i : turn_ + i - n;
    Source& source = sources_[index];
    const int64_t times = most - source.asked;
    if (times <= 0 || !MayAsk(source, now)) continue;
    if (source.sampler == nullptr) {
      if (source.asked > 0 || Remaining() == 0) continue;  // being made, or not needed
      if (source.phase == Phase::kLost) source.tried_at = now;
      if (source.phase == Phase::kIdle) source.phase = Phase::kUp;
    }
    source.asked += times;
    turn_ = index + 1 < n ? index + 1 : 0;
    return {index, times, source.generation, source.sampler, Remaining()};
  }
  return {};
}

bool SampleMixer::State::MayAsk(const Source& source, TimePoint now) const {
  if (!source.ended.ok()) return false;
  if (source.sampler != nullptr || source.phase == Phase::kUp) return true;
  if (now >= source.again_at) return source.phase == Phase::kLost || source.idle_at != arrived_;
  // An idle one is asked again before the stream is given up.
  bool any_idle = false;
  return source.phase == Phase::kIdle && source.idle_at != arrived_ && AllWait(&any_idle);
}

bool SampleMixer::State::AllWait(bool* any_idle) const {
  for (const Source& source : sources_) {
    if (source.phase == Phase::kUp) return false;
    if (source.phase == Phase::kIdle) *any_idle = true;
  }
  return true;
}

bool SampleMixer::State::NoneReachable(TimePoint now) {
  TimePoint last_lost = TimePoint::min();
  for (Source& source : sources_) {
    if (source.phase != Phase::kLost) return false;
    if (source.sampler != nullptr && now - source.tried_at > options_.settled_after) {
      source.phase = Phase::kUp;
      return false;
    }
    last_lost = std::max(last_lost, source.lost_at);
  }
  return now - last_lost >= options_.patience;
}

Status SampleMixer::State::Unreachable() const {
  std::string text =
      "None of the servers can be reached (tried again for " + Seconds(options_.patience) + ")";
  const char* separator = ": ";
  for (const Source& source : sources_) {
    text += separator + source.server.address + ": " + source.cause.message();
    separator = "; ";
  }
  return UnavailableError(text);
}

bool SampleMixer::State::TakeOver(int64_t n, std::unique_lock<std::mutex>* lock) {
  Source& source = sources_[0];
  // Where a call is on its way, its sample comes first.
  if (several() || options_.on_demand || source.sampler == nullptr || source.asked > 0)
    return false;
  const std::shared_ptr<Sampler> sampler = source.sampler;
  const uint64_t generation = source.generation;
  lock->unlock();
  std::vector<Sample> samples = sampler->Take(n);
  lock->lock();
  if (source.generation != generation) return true;  // closed
  arrived_ += static_cast<int64_t>(samples.size());
  for (Sample& sample : samples) ready_.push_back({std::move(sample), 0});
  return !samples.empty();
}

void SampleMixer::State::Wait(std::unique_lock<std::mutex>* lock) {
  const bool all_up = std::all_of(sources_.begin(), sources_.end(),
                                  [](const Source& source) { return source.phase == Phase::kUp; });
  ++waiting_;
  if (all_up) {
    changed_.wait(*lock);
  } else {
    changed_.wait_for(*lock, kTick);
  }
  --waiting_;
}

void SampleMixer::State::Ask(const Request& request) {
  std::shared_ptr<Sampler> sampler = request.sampler;
  const int index = request.index;
  const uint64_t generation = request.generation;
  if (sampler == nullptr) {
    Result<std::unique_ptr<Sampler>> made =
        sources_[index].server.make_sampler(request.max_samples);
    if (!made.ok()) {
      for (int64_t i = 0; i < request.times; ++i) OnSample(index, generation, made.status());
      return;
    }
    sampler = std::move(made).value();
    std::lock_guard<std::mutex> lock(mu_);
    if (!error_.ok()) return;  // closed meanwhile
    sources_[index].sampler = sampler;
  }
  sampler->NextAsync(request.times,
                     [state = shared_from_this(), index, generation](Result<Sample> sample) {
                       state->OnSample(index, generation, std::move(sample));
                     });
}

void SampleMixer::State::OnSample(int index, uint64_t generation, Result<Sample> sample) {
  std::shared_ptr<Sampler> ended;  // destroyed without the lock
  std::string line;
  {
    std::lock_guard<std::mutex> lock(mu_);
    Source& source = sources_[index];
    if (source.generation != generation) return;
    --source.asked;
    if (sample.ok()) {
      ++arrived_;
      if (source.phase == Phase::kLost) Found(&source, &line);
      ready_.push_back({std::move(sample).value(), index});
      changed_.notify_one();
    } else if (source.ended.ok()) {
      source.ended = sample.status();
    }
    if (!source.ended.ok() && source.asked == 0) {
      ended = std::move(source.sampler);
      source.sampler = nullptr;
      const Status why = std::exchange(source.ended, OkStatus());
      OnEnded(&source, why, &line);
      changed_.notify_all();
    }
  }
  Say(line);
}

void SampleMixer::State::OnEnded(Source* source, const Status& why, std::string* line) {
  if (!error_.ok() || why.code() == StatusCode::kOutOfRange) return;
  if (options_.ends_on_timeout && IsRateLimiterTimeout(why)) {
    if (source->phase == Phase::kLost) Found(source, line);
    source->phase = Phase::kIdle;
    source->idle_at = arrived_;
    source->again_at = Clock::now() + options_.idle_pause;
    return;
  }
  const bool lost = why.code() == StatusCode::kUnavailable || why.code() == StatusCode::kCancelled;
  if (lost && several()) {
    Lose(source, why, line);
  } else {
    error_ = several() ? why.WithContext("Server " + source->server.address) : why;
  }
}

void SampleMixer::State::Lose(Source* source, const Status& why, std::string* line) {
  const TimePoint now = Clock::now();
  source->cause = why;
  source->again_at = now + source->pause;
  source->pause = std::min(2 * source->pause, options_.longest_pause);
  const bool again = source->phase == Phase::kLost;
  if (!again) source->lost_at = now;
  source->phase = Phase::kLost;
  if (again && now - source->reported_at < options_.report_every) return;
  source->reported_at = now;
  const auto others = std::count_if(sources_.begin(), sources_.end(),
                                    [](const Source& s) { return s.phase != Phase::kLost; });
  *line = "Server " + source->server.address + " gives no samples" +
          (again ? " since " + Seconds(now - source->lost_at) : "") + ": " + why.message() +
          " It is tried again; of the other servers " + std::to_string(others) + " go on.";
}

void SampleMixer::State::Found(Source* source, std::string* line) {
  *line = "Server " + source->server.address + " gives samples again, after " +
          Seconds(Clock::now() - source->lost_at) + ".";
  source->phase = Phase::kUp;
  source->pause = options_.first_pause;
}

void SampleMixer::State::Close() {
  std::vector<std::shared_ptr<Sampler>> samplers;  // closed without the lock
  {
    std::lock_guard<std::mutex> lock(mu_);
    error_ = CancelledError("The samples are not wanted any more.");
    ready_.clear();
    for (Source& source : sources_) {
      ++source.generation;
      source.asked = 0;
      source.ended = OkStatus();
      if (source.sampler != nullptr) samplers.push_back(std::move(source.sampler));
      source.sampler = nullptr;
    }
    changed_.notify_all();
  }
  for (const std::shared_ptr<Sampler>& sampler : samplers) sampler->Close();
}

}  // namespace reverb_tf::ops

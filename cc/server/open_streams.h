// The streams of a server that go on until their client ends them.
#ifndef REVERB_TF_SERVER_OPEN_STREAMS_H_
#define REVERB_TF_SERVER_OPEN_STREAMS_H_

#include <chrono>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cc/core/clock.h"
#include "cc/core/mutex.h"

namespace reverb_tf::server {

// Lets a server that stops say so on each of them: cut off, they would look like a lost connection.
// Thread-safe. Must outlive the streams.
class OpenStreams {
 public:
  class Stream {
   public:
    virtual ~Stream() = default;
    // Ends the call, once what is due to its client is written. Does not block; may be called more
    // than once.
    virtual void OnServerStops() = 0;
  };

  // Once the server stops, a stream is told at once, in here.
  void Add(const std::shared_ptr<Stream>& stream) {
    {
      MutexLock lock(&mu_);
      streams_.emplace(stream.get(), stream);
      if (!stopping_) return;
    }
    stream->OnServerStops();
  }

  // Once its status is written.
  void Remove(const Stream* stream) {
    MutexLock lock(&mu_);
    streams_.erase(stream);
    if (streams_.empty()) none_.NotifyAll();
  }

  // Tells all that are there and all that come later. Blocks until none is there, or until the
  // deadline.
  void EndAll(core::TimePoint deadline) {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      for (const auto& [key, weak] : streams_) {
        if (std::shared_ptr<Stream> stream = weak.lock()) streams.push_back(std::move(stream));
      }
    }
    for (const std::shared_ptr<Stream>& stream : streams) stream->OnServerStops();
    MutexLock lock(&mu_);
    while (!streams_.empty() && std::chrono::steady_clock::now() < deadline) {
      none_.WaitUntil(&mu_, deadline);
    }
  }

 private:
  Mutex mu_;
  CondVar none_;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::unordered_map<const Stream*, std::weak_ptr<Stream>> streams_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_OPEN_STREAMS_H_

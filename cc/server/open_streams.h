// The streams of a server that go on until their client ends them.
#ifndef REVERB_TF_SERVER_OPEN_STREAMS_H_
#define REVERB_TF_SERVER_OPEN_STREAMS_H_

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

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

  void Remove(const Stream* stream) {
    MutexLock lock(&mu_);
    streams_.erase(stream);
  }

  // Tells all that are there and all that come later.
  void EndAll() {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      for (const auto& [key, weak] : streams_) {
        if (std::shared_ptr<Stream> stream = weak.lock()) streams.push_back(std::move(stream));
      }
    }
    for (const std::shared_ptr<Stream>& stream : streams) stream->OnServerStops();
  }

 private:
  Mutex mu_;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::unordered_map<const Stream*, std::weak_ptr<Stream>> streams_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_OPEN_STREAMS_H_

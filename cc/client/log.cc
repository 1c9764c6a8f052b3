#include "cc/client/log.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "cc/core/mutex.h"

namespace reverb_tf::client {
namespace {

struct State {
  Mutex mu;
  std::shared_ptr<const LogSink> sink GUARDED_BY(mu);
};

// Never destroyed: threads of gRPC may outlive main().
State* GetState() {
  static State* const state = new State;
  return state;
}

}  // namespace

void SetLogSink(LogSink sink) {
  State* const state = GetState();
  auto shared = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  MutexLock lock(&state->mu);
  std::swap(state->sink, shared);
}

void LogWarning(const std::string& line) {
  State* const state = GetState();
  std::shared_ptr<const LogSink> sink;
  {
    MutexLock lock(&state->mu);
    sink = state->sink;
  }
  if (sink != nullptr) {
    (*sink)(line);
  } else {
    std::fprintf(stderr, "reverb_tf: %s\n", line.c_str());
  }
}

}  // namespace reverb_tf::client

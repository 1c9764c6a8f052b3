// How a server that stops ends the streams on which it has nothing to report.
#ifndef REVERB_TF_WIRE_SERVER_STOPPED_H_
#define REVERB_TF_WIRE_SERVER_STOPPED_H_

#include "reverb_tf/status.h"

namespace reverb_tf::wire {

inline constexpr char kServerStopped[] = "the server was stopped";

// UNAVAILABLE, after which every client connects again; dm-reverb's Writer takes CANCELLED for the
// loss of what it wrote. Our clients know it by its text, because for them a stop is not the same
// as a lost connection.
inline Status ServerStoppedError() { return UnavailableError(kServerStopped); }

inline bool IsServerStopped(const Status& status) {
  return status.code() == StatusCode::kUnavailable && status.message() == kServerStopped;
}

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_SERVER_STOPPED_H_

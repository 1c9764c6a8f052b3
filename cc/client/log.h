// The one place where the client says something unasked.
#ifndef REVERB_TF_CLIENT_LOG_H_
#define REVERB_TF_CLIENT_LOG_H_

#include <functional>
#include <string>

#include "reverb_tf/export.h"

namespace reverb_tf::client {

using LogSink = std::function<void(const std::string& line)>;

// Replaces where warnings go; null: stderr again. Thread-safe. A sink may be called from any thread
// that waits in a call of this library, without any of its locks.
REVERB_TF_EXPORT void SetLogSink(LogSink sink);

// One line, without a line break. Thread-safe.
void LogWarning(const std::string& line);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_LOG_H_

// A sample stream from a table of this process.
#ifndef REVERB_TF_CLIENT_LOCAL_SAMPLE_STREAM_H_
#define REVERB_TF_CLIENT_LOCAL_SAMPLE_STREAM_H_

#include <memory>
#include <string>

#include "cc/client/transport.h"
#include "cc/core/clock.h"
#include "cc/core/local_registry.h"

namespace reverb_tf::client {

// Samples on the thread that calls Request, as long as the table lets it. Ends with NOT_FOUND at
// the first request for a table that does not exist.
std::shared_ptr<SampleStream> MakeLocalSampleStream(
    const std::shared_ptr<const core::LocalServer>& server, const std::string& table,
    std::shared_ptr<SampleStreamObserver> observer, core::Clock* clock);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_LOCAL_SAMPLE_STREAM_H_

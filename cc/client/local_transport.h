// Reaches a server of this process by calling its tables.
#ifndef REVERB_TF_CLIENT_LOCAL_TRANSPORT_H_
#define REVERB_TF_CLIENT_LOCAL_TRANSPORT_H_

#include <memory>
#include <string>

#include "cc/client/transport.h"
#include "cc/core/clock.h"
#include "cc/core/local_registry.h"

namespace reverb_tf::client {

// `address` is where `server` was found in the registry. A server that stops ends its streams and
// calls with CANCELLED; that is transient only with `await_successor`, or when another server can
// be found at the address by then.
std::shared_ptr<Transport> MakeLocalTransport(std::string address,
                                              std::shared_ptr<const core::LocalServer> server,
                                              core::Clock* clock, bool await_successor);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_LOCAL_TRANSPORT_H_

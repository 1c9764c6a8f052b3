// Where a server listens.
#ifndef REVERB_TF_SERVER_LISTEN_ADDRESS_H_
#define REVERB_TF_SERVER_LISTEN_ADDRESS_H_

#include <string>

#include "reverb_tf/status.h"

namespace reverb_tf::server {

// "host:port"; an IPv6 address gets its brackets. "[::]" becomes "0.0.0.0" on a machine without
// IPv6.
std::string ListenAddress(const std::string& host, int port);

// True when clients reach the server under the names of the loopback.
bool ListensOnLoopback(const std::string& host);

// UNAVAILABLE, naming host, port and cause, when the port cannot be bound. gRPC itself tells causes
// only to its log, and listens on one address family where the other is taken. `port` 0 asks only
// whether the host is one of this machine.
Status CheckCanBind(const std::string& host, int port);

}  // namespace reverb_tf::server

#endif  // REVERB_TF_SERVER_LISTEN_ADDRESS_H_

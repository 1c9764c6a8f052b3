#include "cc/server/loopback_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace reverb_tf::server {
namespace {

// Another program has the port on ::1 about once in a few thousand times.
constexpr int kAttempts = 10;

// With SO_REUSEADDR a socket that does not listen leaves the port to those that ask for it so too.
template <typename Address>
bool Bind(int socket, Address* address) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof *address;
  auto* const generic = reinterpret_cast<sockaddr*>(address);
  return bind(socket, generic, size) == 0 && getsockname(socket, generic, &size) == 0;
}

}  // namespace

LoopbackPort::LoopbackPort(const std::string& host) {
  if (host != "localhost" && host != "127.0.0.1" && host != "::1" && host != "[::1]") return;
  for (int i = 0; i < kAttempts && port_ == 0; ++i) {
    Close();
    Take();
  }
}

void LoopbackPort::Take() {
  v4_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!Bind(v4_, &v4)) return;
  v6_ = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  v6.sin6_port = v4.sin_port;
  // Anything but EADDRINUSE: there is no IPv6 here.
  if (!Bind(v6_, &v6) && errno == EADDRINUSE) return;
  port_ = ntohs(v4.sin_port);
}

void LoopbackPort::Close() {
  for (int* socket : {&v4_, &v6_}) {
    if (*socket >= 0) close(*socket);
    *socket = -1;
  }
}

}  // namespace reverb_tf::server

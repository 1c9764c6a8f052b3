#include "cc/server/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace reverb_tf::server {
namespace {

// Closes a socket at the end of its scope.
class Socket {
 public:
  explicit Socket(int family) : fd_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

bool HasIpv6() {
  const Socket probe(AF_INET6);
  if (probe.fd() < 0) return false;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_any;
  return bind(probe.fd(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

std::string WithoutBrackets(const std::string& host) {
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return host;
  return host.substr(1, host.size() - 2);
}

Status Unavailable(const std::string& host, int port, const std::string& cause) {
  return UnavailableError("cannot listen on " + ListenAddress(host, port) + ": " + cause);
}

Status TryBind(const std::string& host, int port, const addrinfo& address) {
  const Socket probe(address.ai_family);
  if (probe.fd() < 0) return Unavailable(host, port, std::strerror(errno));
  const int on = 1;
  // As gRPC does: a port whose last connections are still closing is free; one that is listened on
  // is not.
  setsockopt(probe.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(probe.fd(), address.ai_addr, address.ai_addrlen) == 0) return OkStatus();
  return Unavailable(host, port, std::strerror(errno));
}

}  // namespace

std::string ListenAddress(const std::string& host, int port) {
  std::string bare = WithoutBrackets(host);
  if (bare == "::" && !HasIpv6()) bare = "0.0.0.0";
  if (bare.find(':') != std::string::npos) bare = "[" + bare + "]";
  return bare + ":" + std::to_string(port);
}

bool ListensOnLoopback(const std::string& host) {
  const std::string bare = WithoutBrackets(host);
  return bare == "::" || bare == "0.0.0.0" || bare == "::1" || bare == "localhost" ||
         bare.compare(0, 4, "127.") == 0;
}

Status CheckCanBind(const std::string& host, int port) {
  const std::string address = ListenAddress(host, port);
  const std::string bare = WithoutBrackets(address.substr(0, address.rfind(':')));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(bare.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return Unavailable(host, port, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    REVERB_TF_RETURN_IF_ERROR(TryBind(host, port, *a));
  }
  return OkStatus();
}

}  // namespace reverb_tf::server

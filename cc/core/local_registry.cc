#include "cc/core/local_registry.h"

#include <pthread.h>

#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

namespace reverb_tf::core {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Decimal digits only, at most `max`.
std::optional<int> ParseNumber(std::string_view text, int max) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  int value = 0;
  for (char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (value > max) return std::nullopt;
  return value;
}

// "127.x.y.z"
bool IsLoopbackIpv4(std::string_view host) {
  int parts = 0;
  while (true) {
    const size_t dot = host.find('.');
    const std::optional<int> part = ParseNumber(host.substr(0, dot), 255);
    if (!part || (parts == 0 && *part != 127)) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

std::string_view WithoutScheme(std::string_view address) {
  for (std::string_view scheme : {"dns:///", "ipv4:", "ipv6:"}) {
    if (address.substr(0, scheme.size()) == scheme) return address.substr(scheme.size());
  }
  return address;
}

// The port of a loopback address.
std::optional<int> LoopbackPort(std::string_view address) {
  address = WithoutScheme(address);
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view host = address.substr(0, colon);
  if (host != "localhost" && host != "[::1]" && !IsLoopbackIpv4(host)) return std::nullopt;
  return ParseNumber(address.substr(colon + 1), 65535);
}

std::atomic<LocalRegistry*> global_registry{nullptr};

}  // namespace

Status NoCheckpointerError() {
  return InvalidArgumentError("no checkpointer is configured for the server");
}

std::shared_ptr<Table> LocalServer::Find(const std::string& table_name) const {
  for (const std::shared_ptr<Table>& table : tables) {
    if (table->name() == table_name) return table;
  }
  return nullptr;
}

LocalRegistry* LocalRegistry::Global() {
  // A forked child has no server threads, and perhaps a lock that nobody will release: it gets an
  // empty registry.
  [[maybe_unused]] static const bool once = [] {
    global_registry.store(new LocalRegistry);
    pthread_atfork(nullptr, nullptr, [] { global_registry.store(new LocalRegistry); });
    return true;
  }();
  return global_registry.load(std::memory_order_acquire);
}

void LocalRegistry::Add(int port, std::shared_ptr<const LocalServer> server) {
  MutexLock lock(&mu_);
  std::swap(servers_[port], server);
}

void LocalRegistry::Remove(int port) {
  std::shared_ptr<const LocalServer> server;  // released without the lock
  MutexLock lock(&mu_);
  const auto found = servers_.find(port);
  if (found == servers_.end()) return;
  server = std::move(found->second);
  servers_.erase(found);
}

std::shared_ptr<const LocalServer> LocalRegistry::Find(const std::string& address) const {
  const std::optional<int> port = LoopbackPort(address);
  if (!port) return nullptr;
  MutexLock lock(&mu_);
  const auto found = servers_.find(*port);
  return found == servers_.end() ? nullptr : found->second;
}

}  // namespace reverb_tf::core

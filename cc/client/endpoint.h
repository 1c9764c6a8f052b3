// A server as its client, writers and samplers share it.
#ifndef REVERB_TF_CLIENT_ENDPOINT_H_
#define REVERB_TF_CLIENT_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>

#include "cc/client/fork_guard.h"
#include "cc/client/transport.h"
#include "cc/core/clock.h"
#include "cc/core/mutex.h"
#include "reverb_tf/client.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Thread-safe. Nothing blocks.
class Endpoint : public std::enable_shared_from_this<Endpoint> {
 public:
  // Makes the transport of a new stream or call.
  using TransportFactory = std::function<Result<std::shared_ptr<Transport>>()>;

  // `transport` null: the server of this process at the address if there is one, else gRPC over one
  // channel that is made at first use. `clock` must outlive everything that uses the endpoint.
  Endpoint(std::string address, const ClientOptions& options, core::Clock* clock,
           TransportFactory transport = nullptr);
  ~Endpoint();

  const std::string& address() const { return address_; }
  const ClientOptions& options() const { return options_; }
  core::Clock* clock() const { return clock_; }
  const ForkGuard& fork_guard() const { return fork_guard_; }

  // To be used for the next stream or call; the way may be another one each time.
  // FAILED_PRECONDITION in a forked child that cannot reach servers.
  Result<std::shared_ptr<Transport>> transport() EXCLUDES(mu_);

  // Asks the server what its tables do, for DescribeTable; does nothing while such a question is on
  // its way.
  void RefreshServerInfo() EXCLUDES(mu_);

  enum class Operation { kInsert, kSample };
  // What an operation on the table waits for, as far as the last RefreshServerInfo knows: "table
  // 't' of localhost:1: 3 of at most 10 items, ..." or that the server cannot be reached, and why.
  std::string DescribeTable(const std::string& table, Operation operation) EXCLUDES(mu_);

 private:
  Result<std::shared_ptr<Transport>> DefaultTransport() EXCLUDES(mu_);

  const std::string address_;
  const ClientOptions options_;
  core::Clock* const clock_;
  const TransportFactory factory_;
  const ForkGuard fork_guard_;

  Mutex mu_;
  std::shared_ptr<Transport> grpc_ GUARDED_BY(mu_);
  bool refreshing_ GUARDED_BY(mu_) = false;
  Status refresh_status_ GUARDED_BY(mu_);
  std::shared_ptr<const ServerInfo> info_ GUARDED_BY(mu_);  // null: not known yet
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_ENDPOINT_H_

#include "cc/client/endpoint.h"

#include <utility>

#include "cc/client/grpc_transport.h"
#include "cc/client/local_transport.h"
#include "cc/client/table_text.h"
#include "cc/core/local_registry.h"

namespace reverb_tf::client {

Endpoint::Endpoint(std::string address, const ClientOptions& options, core::Clock* clock,
                   TransportFactory transport)
    : address_(std::move(address)),
      options_(options),
      clock_(clock),
      factory_(std::move(transport)) {}

Endpoint::~Endpoint() {
  // A channel that a forked child inherited cannot be closed there: its threads are missing.
  if (fork_guard_.forked()) new std::shared_ptr<Transport>(std::move(grpc_));
}

Result<std::shared_ptr<Transport>> Endpoint::transport() {
  REVERB_TF_RETURN_IF_ERROR(fork_guard_.Check());
  return factory_ ? factory_() : DefaultTransport();
}

Result<std::shared_ptr<Transport>> Endpoint::DefaultTransport() {
  if (auto server = core::LocalRegistry::Global()->Find(address_)) {
    CheckGrpcUsable().IgnoreError();  // takes note: the server uses gRPC
    return MakeLocalTransport(address_, std::move(server), clock_, options_.await_local_successor);
  }
  REVERB_TF_RETURN_IF_ERROR(CheckGrpcUsable());
  MutexLock lock(&mu_);
  if (grpc_ == nullptr) grpc_ = MakeGrpcTransport(address_);
  return grpc_;
}

void Endpoint::RefreshServerInfo() {
  {
    MutexLock lock(&mu_);
    if (refreshing_) return;
    refreshing_ = true;
  }
  Result<std::shared_ptr<Transport>> found = transport();
  const auto finish = [self = shared_from_this()](Result<ServerInfo> info) {
    MutexLock lock(&self->mu_);
    self->refreshing_ = false;
    self->refresh_status_ = info.ok() ? OkStatus() : info.status();
    if (info.ok()) self->info_ = std::make_shared<const ServerInfo>(std::move(info).value());
  };
  if (!found.ok()) return finish(found.status());
  (*found)->GetServerInfo(finish);
}

std::string Endpoint::DescribeTable(const std::string& table, Operation operation) {
  std::shared_ptr<const ServerInfo> info;
  Status status;
  {
    MutexLock lock(&mu_);
    info = info_;
    status = refresh_status_;
  }
  if (!status.ok()) {
    return "table '" + table + "', but server " + address_ +
           " cannot be reached: " + status.message();
  }
  const std::string where = "table '" + table + "' of server " + address_;
  if (info == nullptr) return where;
  return where + ": " + TableStateText(*info, table, operation == Operation::kSample);
}

}  // namespace reverb_tf::client

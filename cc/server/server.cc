#include "reverb_tf/server.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "cc/checkpoint/restore.h"
#include "cc/checkpoint/store.h"
#include "cc/core/clock.h"
#include "cc/core/local_registry.h"
#include "cc/core/malloc_threshold.h"
#include "cc/core/mutex.h"
#include "cc/server/checkpointer.h"
#include "cc/server/client_sockets.h"
#include "cc/server/listen_address.h"
#include "cc/server/loopback_port.h"
#include "cc/server/reverb_service.h"
#include "cc/server/served_tables.h"
#include "cc/wire/local_socket.h"
#include "cc/wire/socket_visitor.h"

namespace reverb_tf {
namespace server {
namespace {

constexpr auto kInterruptPeriod = std::chrono::milliseconds(100);
// How long a stop waits for a checkpoint that is being written.
constexpr Duration kCheckpointPatience = std::chrono::seconds(10);
constexpr Duration kInterruptedPatience = std::chrono::seconds(5);
// How long it waits for clients to take what is due to them.
constexpr auto kFarewellPatience = std::chrono::milliseconds(500);

class VisitSockets : public grpc::ServerBuilderOption {
 public:
  explicit VisitSockets(std::shared_ptr<ClientSockets> sockets)
      : visitor_([sockets = std::move(sockets)](int socket) {
          if (wire::IsWithinMachine(socket)) wire::LimitSendBuffer(socket);
          sockets->Add(socket);
        }) {}
  void UpdateArguments(grpc::ChannelArguments* args) override { visitor_.AddTo(args); }
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>*) override {}

 private:
  const wire::SocketVisitor visitor_;
};

// Once a client was cut off, a thread of gRPC's goes on to look at connections for up to 10 s. The
// last user of gRPC in a process would wait for it when it goes; now nobody is the last.
void KeepGrpc() {
  static std::once_flag once;
  std::call_once(once, grpc_init);
}

uint64_t RandomBits() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

Status CheckCheckpointOptions(const CheckpointOptions& options) {
  if (options.path.empty()) {
    return InvalidArgumentError("the checkpointer's path is empty; expected a folder");
  }
  if (options.keep < 1) {
    return InvalidArgumentError("the checkpointer's keep is " + std::to_string(options.keep) +
                                "; expected at least 1");
  }
  if (options.every < Duration::zero()) {
    return InvalidArgumentError("the checkpointer's period is negative; expected 0 (none) or more");
  }
  return OkStatus();
}

Status CheckOptions(const ServerOptions& options) {
  if (options.checkpoint) REVERB_TF_RETURN_IF_ERROR(CheckCheckpointOptions(*options.checkpoint));
  if (options.tables.empty()) {
    return InvalidArgumentError("a server needs at least one table; none was given");
  }
  if (options.port < 0 || options.port > 65535) {
    return InvalidArgumentError("port is " + std::to_string(options.port) +
                                "; expected 0 (any) to 65535");
  }
  if (options.host.empty()) return InvalidArgumentError("host is empty; expected an address");
  std::set<std::string> names;
  std::set<std::string> duplicates;
  for (const auto& table : options.tables) {
    if (table == nullptr) return InvalidArgumentError("a table of the server is null");
    if (!names.insert(table->name()).second) duplicates.insert(table->name());
  }
  if (duplicates.empty()) return OkStatus();
  std::string list;
  for (const std::string& name : duplicates) list += (list.empty() ? "" : ", ") + name;
  return InvalidArgumentError("the names of a server's tables must differ; given more than once: " +
                              list);
}

class ServerImpl final : public Server {
 public:
  // Not started yet. `checkpointer` may be null.
  ServerImpl(std::string host, std::shared_ptr<const ServedTables> tables,
             std::shared_ptr<Checkpointer> checkpointer, RestoreReport restored)
      : host_(std::move(host)),
        tables_(std::move(tables)),
        checkpointer_(std::move(checkpointer)),
        restored_(std::move(restored)),
        service_(tables_, core::Clock::System()) {}

  ~ServerImpl() override { Stop(); }

  // Called once, before anything else.
  Status Listen(int port);

  int port() const override { return port_; }
  const std::string& host() const override { return host_; }
  const RestoreReport& restored() const override { return restored_; }
  Result<std::string> Checkpoint(const WaitOptions& wait) override {
    if (checkpointer_ == nullptr) return core::NoCheckpointerError();
    return checkpointer_->RequestAndWait(wait);
  }
  void Stop() override;
  Status Wait(const WaitOptions& wait) override;

 private:
  enum class State { kRunning, kStopping, kStopped };

  const std::string host_;
  const std::shared_ptr<const ServedTables> tables_;
  const std::shared_ptr<Checkpointer> checkpointer_;
  const RestoreReport restored_;
  const std::shared_ptr<ClientSockets> sockets_ = std::make_shared<ClientSockets>();
  ReverbService service_;  // outlives grpc_server_
  std::unique_ptr<grpc::Server> grpc_server_;
  int port_ = 0;

  Mutex mu_;
  CondVar changed_;
  State state_ GUARDED_BY(mu_) = State::kStopped;
};

Status ServerImpl::Listen(int port) {
  REVERB_TF_RETURN_IF_ERROR(CheckCanBind(host_, port));
  core::KeepFreedMemory();
  // Both register a plug-in of this copy of gRPC, which nobody else in the process sees; again does
  // no harm.
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  const LoopbackPort reserved(port == 0 ? host_ : "");
  grpc::ServerBuilder builder;
  int bound_port = 0;
  builder.AddListeningPort(ListenAddress(host_, port == 0 ? reserved.port() : port),
                           grpc::InsecureServerCredentials(), &bound_port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetOption(std::make_unique<VisitSockets>(sockets_));
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  // Reflection is the only service with threads of its own.
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
  builder.RegisterService(&service_);
  grpc_server_ = builder.BuildAndStart();
  if (grpc_server_ == nullptr || bound_port == 0) {
    return UnavailableError("cannot listen on " + ListenAddress(host_, port) +
                            ": gRPC could not bind or start");
  }
  port_ = bound_port;
  if (auto* health = grpc_server_->GetHealthCheckService(); health != nullptr) {
    health->SetServingStatus(true);
    health->SetServingStatus(deepmind::reverb::ReverbService::service_full_name(), true);
  }
  if (checkpointer_ != nullptr) checkpointer_->Start();
  if (ListensOnLoopback(host_)) {
    core::LocalRegistry::Global()->Add(port_, tables_->shared_server());
  }
  MutexLock lock(&mu_);
  state_ = State::kRunning;
  return OkStatus();
}

void ServerImpl::Stop() {
  {
    MutexLock lock(&mu_);
    while (state_ == State::kStopping) changed_.Wait(&mu_);
    if (state_ == State::kStopped) return;
    state_ = State::kStopping;
  }
  if (ListensOnLoopback(host_)) core::LocalRegistry::Global()->Remove(port_);
  // Answers the calls that wait for it.
  if (checkpointer_ != nullptr) checkpointer_->Stop(kCheckpointPatience, kInterruptedPatience);
  // Ends what is blocked in them; the streams report it to their clients.
  for (const auto& table : tables_->server().tables) table->Close();
  core::Clock* const clock = core::Clock::System();
  const core::TimePoint deadline = clock->Now() + kFarewellPatience;
  const auto timer = clock->CallAt(deadline, [sockets = sockets_] { sockets->CutOff(); });
  // Ends the other streams. A client that heard nothing would take the stop for a lost connection.
  service_.EndStreams(deadline);
  // Closes each connection when its client has answered a ping, and so has read what was written
  // before. Cancels what is not over by the deadline, and waits for the reactors, none of which
  // blocks.
  grpc_server_->Shutdown(std::chrono::system_clock::now() + (deadline - clock->Now()));
  grpc_server_->Wait();
  if (!clock->Cancel(timer)) KeepGrpc();
  MutexLock lock(&mu_);
  state_ = State::kStopped;
  changed_.NotifyAll();
}

Status ServerImpl::Wait(const WaitOptions& wait) {
  const core::TimePoint now = std::chrono::steady_clock::now();
  const core::TimePoint deadline = wait.timeout >= core::kNoDeadline - now
                                       ? core::kNoDeadline
                                       : now + std::max(wait.timeout, Duration::zero());
  while (true) {
    {
      MutexLock lock(&mu_);
      if (state_ == State::kStopped) return OkStatus();
      if (std::chrono::steady_clock::now() >= deadline) {
        return DeadlineExceededError("the server on " + ListenAddress(host_, port_) +
                                     " was not stopped before the timeout");
      }
      core::TimePoint wake = deadline;
      if (wait.interrupted) {
        wake = std::min(wake, std::chrono::steady_clock::now() + kInterruptPeriod);
      }
      if (wake == core::kNoDeadline) {
        changed_.Wait(&mu_);
      } else {
        changed_.WaitUntil(&mu_, wake);
      }
    }
    if (wait.interrupted && wait.interrupted()) {
      return CancelledError("waiting for the server to stop was interrupted");
    }
  }
}

// What a server has besides its tables.
struct Parts {
  std::shared_ptr<Checkpointer> checkpointer;  // null: none
  checkpoint::Restored restored;
};

void PrintWarning(const std::string& line) {
  std::fprintf(stderr, "reverb_tf: %s\n", line.c_str());
}

// Loads, before the server exists.
Result<Parts> MakeParts(const ServerOptions& options, const core::LocalServer& local) {
  Parts parts;
  if (!options.checkpoint) return parts;
  const CheckpointOptions& checkpoint = *options.checkpoint;
  const Checkpointer::Warn warn = options.warn ? options.warn : PrintWarning;
  checkpoint::StoreOptions store_options;
  store_options.format = checkpoint.format;
  store_options.keep = checkpoint.keep;
  store_options.warn = warn;
  // The process may change its working folder later.
  std::error_code error;
  const std::filesystem::path root =
      std::filesystem::absolute(checkpoint::RootOf(store_options.files, checkpoint.path), error);
  if (error) {
    return InternalError("cannot find the folder " + checkpoint.path + ": " + error.message());
  }
  auto store = std::make_unique<checkpoint::Store>(root.string(), store_options);
  REVERB_TF_ASSIGN_OR_RETURN(parts.restored,
                             checkpoint::Restore(store_options.files, checkpoint, options.load,
                                                 local.tables, store.get()));
  parts.checkpointer =
      std::make_shared<Checkpointer>(std::move(store), local.tables, checkpoint.every, warn);
  return parts;
}

}  // namespace
}  // namespace server

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  REVERB_TF_RETURN_IF_ERROR(server::CheckOptions(options));
  // Before a long load.
  REVERB_TF_RETURN_IF_ERROR(server::CheckCanBind(options.host, options.port));
  auto local = std::make_shared<core::LocalServer>();
  local->state_id_high = server::RandomBits();
  local->state_id_low = server::RandomBits();
  for (const auto& table : options.tables) local->tables.push_back(table->impl());
  REVERB_TF_ASSIGN_OR_RETURN(server::Parts parts, server::MakeParts(options, *local));
  if (parts.checkpointer != nullptr) {
    local->checkpoint = [checkpointer = parts.checkpointer](auto callback) {
      checkpointer->Request(std::move(callback));
    };
  }
  auto result = std::make_unique<server::ServerImpl>(
      std::move(options.host), std::make_shared<server::ServedTables>(std::move(local)),
      std::move(parts.checkpointer), std::move(parts.restored.report));
  const Status listening = result->Listen(options.port);
  if (!listening.ok()) {
    for (const auto& table : parts.restored.filled) table->Reset().IgnoreError();
    return listening;
  }
  return std::unique_ptr<Server>(std::move(result));
}

}  // namespace reverb_tf

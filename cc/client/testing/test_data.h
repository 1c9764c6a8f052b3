// Arrays, servers and clients for tests.
#ifndef REVERB_TF_CLIENT_TESTING_TEST_DATA_H_
#define REVERB_TF_CLIENT_TESTING_TEST_DATA_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/client/client_impl.h"
#include "cc/client/endpoint.h"
#include "cc/client/grpc_transport.h"
#include "cc/core/clock.h"
#include "gtest/gtest.h"
#include "reverb_tf/client.h"
#include "reverb_tf/server.h"
#include "reverb_tf/table.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf::client {

// An array that owns its elements.
template <typename T>
class TestArray {
 public:
  TestArray(DType dtype, std::vector<int64_t> dims, std::vector<T> elements)
      : dims_(std::move(dims)), elements_(std::move(elements)) {
    view_.dtype = dtype;
    view_.rank = static_cast<int32_t>(dims_.size());
    view_.dims = dims_.data();
    view_.data = elements_.data();
  }
  TestArray(const TestArray&) = delete;
  TestArray& operator=(const TestArray&) = delete;

  const TensorView& view() const { return view_; }

 private:
  const std::vector<int64_t> dims_;
  const std::vector<T> elements_;
  TensorView view_;
};

inline std::unique_ptr<TestArray<int64_t>> Scalar(int64_t value) {
  return std::make_unique<TestArray<int64_t>>(DType::kInt64, std::vector<int64_t>(),
                                              std::vector<int64_t>{value});
}

inline TableOptions QueueOptions(const std::string& name, int64_t size) {
  TableOptions options;
  options.name = name;
  options.sampler.kind = options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = size;
  options.max_times_sampled = 1;
  options.rate_limiter.min_size_to_sample = 1;
  options.rate_limiter.min_diff = 0;
  options.rate_limiter.max_diff = static_cast<double>(size);
  return options;
}

inline TableOptions UniformOptions(const std::string& name, int64_t size = 1000) {
  TableOptions options;
  options.name = name;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = size;
  return options;
}

inline TableOptions PrioritizedOptions(const std::string& name, int64_t size = 1000) {
  TableOptions options = UniformOptions(name, size);
  options.sampler.kind = SelectorOptions::Kind::kPrioritized;
  return options;
}

inline std::unique_ptr<Server> StartServer(const std::vector<TableOptions>& tables, int port = 0) {
  ServerOptions options;
  options.host = "localhost";
  options.port = port;
  for (const TableOptions& table : tables) {
    options.tables.push_back(reverb_tf::Table::Create(table).value());
  }
  Result<std::unique_ptr<Server>> server = Server::Start(std::move(options));
  EXPECT_TRUE(server.ok()) << server.status().ToString();
  return std::move(server).value();
}

inline std::string AddressOf(const Server& server) {
  return "localhost:" + std::to_string(server.port());
}

// A port on which nobody listens; other tests, which run beside this one, cannot get it.
class DeadPort {
 public:
  // 0: any. Otherwise one whose server has stopped; its old connections may linger.
  explicit DeadPort(int port) {
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(port));
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = v6.sin6_port;
    // Some machines have no IPv6.
    EXPECT_TRUE(Bind(&v6, port != 0) || Bind(&v4, port != 0));
    port_ = ntohs(v6.sin6_port != 0 ? v6.sin6_port : v4.sin_port);
  }
  ~DeadPort() { close(socket_); }
  DeadPort(const DeadPort&) = delete;
  DeadPort& operator=(const DeadPort&) = delete;

  int port() const { return port_; }

 private:
  template <typename Address>
  bool Bind(Address* address, bool reuse) {
    auto* const generic = reinterpret_cast<sockaddr*>(address);
    socket_ = socket(generic->sa_family, SOCK_STREAM, 0);
    const int on = reuse ? 1 : 0;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    socklen_t size = sizeof(*address);
    if (bind(socket_, generic, size) == 0 && getsockname(socket_, generic, &size) == 0) return true;
    close(socket_);
    return false;
  }

  int socket_ = -1;
  int port_ = 0;
};

enum class Path { kLocal, kGrpc };

inline std::string PathName(const testing::TestParamInfo<Path>& info) {
  return info.param == Path::kLocal ? "Local" : "Grpc";
}

// A client that reaches a server of this process over the path.
inline std::shared_ptr<Client> MakeClient(const std::string& address, Path path,
                                          const ClientOptions& options) {
  Endpoint::TransportFactory factory;
  if (path == Path::kGrpc) {
    std::shared_ptr<Transport> transport = MakeGrpcTransport(address);
    factory = [transport] { return Result<std::shared_ptr<Transport>>(transport); };
  }
  return std::make_shared<ClientImpl>(
      std::make_shared<Endpoint>(address, options, core::Clock::System(), factory));
}

inline std::shared_ptr<Client> MakeClient(const std::string& address, Path path,
                                          Duration patience = std::chrono::seconds(30)) {
  ClientOptions options;
  options.patience = patience;
  return MakeClient(address, path, options);
}

// Bounds what would otherwise hang.
inline WaitOptions Soon() {
  WaitOptions wait;
  wait.timeout = std::chrono::seconds(60);
  return wait;
}

inline WaitOptions Within(Duration timeout) {
  WaitOptions wait;
  wait.timeout = timeout;
  return wait;
}

// The elements of an int64 column.
inline std::vector<int64_t> ReadInts(const Sample& sample, int column = 0) {
  std::vector<int64_t> values(sample.column(column).num_bytes / sizeof(int64_t));
  const Status status = sample.ReadColumn(column, values.data(), values.size() * sizeof(int64_t));
  EXPECT_TRUE(status.ok()) << status.ToString();
  return values;
}

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TESTING_TEST_DATA_H_

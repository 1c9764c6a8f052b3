// Inserts and samples a second of one-step items, with the server in another process and in this
// one.
//
//   inserts  TrajectoryWriter: append and create_item each step, flush at the end
//   samples  Sampler::Next and ReadColumn, 256 in flight, uniform table
//
// Beside the rate stands the processor time an item costs the client and the server, which a busy
// machine changes less.
//
// Usage: client_benchmark [seconds for each case [text that the names of the cases to run contain]]
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cc/core/random.h"
#include "reverb_tf/client.h"
#include "reverb_tf/server.h"
#include "reverb_tf/table.h"

namespace reverb_tf {
namespace {

using Clock = std::chrono::steady_clock;

void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

std::unique_ptr<Server> StartServer() {
  TableOptions table;
  table.name = "t";
  table.remover.kind = SelectorOptions::Kind::kFifo;
  table.max_size = 10'000;
  ServerOptions options;
  options.host = "localhost";
  options.tables.push_back(Table::Create(table).value());
  return Server::Start(std::move(options)).value();
}

// A server in a child process; made before this process uses gRPC. It ends with the pipe.
class ServerProcess {
 public:
  ServerProcess() {
    int port_pipe[2];
    if (pipe(port_pipe) != 0 || pipe(life_) != 0) std::abort();
    child_ = fork();
    if (child_ == 0) {
      close(life_[1]);
      const auto server = StartServer();
      const int port = server->port();
      char byte = 0;
      if (write(port_pipe[1], &port, sizeof(port)) != sizeof(port)) _exit(1);
      while (read(life_[0], &byte, 1) > 0) {
      }
      _exit(0);
    }
    close(life_[0]);
    if (read(port_pipe[0], &port_, sizeof(port_)) != sizeof(port_)) std::abort();
  }
  ~ServerProcess() {
    close(life_[1]);
    waitpid(child_, nullptr, 0);
  }
  std::string address() const { return "localhost:" + std::to_string(port_); }
  pid_t pid() const { return child_; }

 private:
  int life_[2];
  int port_ = 0;
  pid_t child_ = 0;
};

class Step {
 public:
  explicit Step(int64_t floats) : dims_{floats}, values_(floats) {
    core::Random random(1);
    for (float& value : values_) value = static_cast<float>(random.Unit());
    view_.dtype = DType::kFloat32;
    view_.rank = 1;
    view_.dims = dims_;
    view_.data = values_.data();
  }
  const TensorView& view() const { return view_; }

 private:
  int64_t dims_[1];
  std::vector<float> values_;
  TensorView view_;
};

// Measures from its making on.
class Meter {
 public:
  // `server`: the process of the server, or 0.
  explicit Meter(pid_t server) : start_(Clock::now()) {
    clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
    clocks_.push_back(clock);
    if (server != 0 && clock_getcpuclockid(server, &clock) == 0) clocks_.push_back(clock);
    for (clockid_t c : clocks_) cpu_.push_back(Now(c));
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // "12345 items/s  cpu 1.5 + 0.7 us"
  void Print(const char* what, int64_t bytes, const char* where, int64_t n) const {
    std::printf("%s %6ld B %-13s %9.0f items/s  cpu", what, static_cast<long>(bytes), where,
                static_cast<double>(n) / seconds());
    for (size_t i = 0; i < clocks_.size(); ++i) {
      std::printf("%s %.2f", i > 0 ? " +" : "",
                  1e6 * (Now(clocks_[i]) - cpu_[i]) / static_cast<double>(n));
    }
    std::printf(" us\n");
    std::fflush(stdout);
  }

 private:
  static double Now(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  const Clock::time_point start_;
  std::vector<clockid_t> clocks_;
  std::vector<double> cpu_;
};

double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void Insert(Client* client, int64_t floats, double seconds, const char* where, pid_t server) {
  const Step step(floats);
  auto writer = client->NewTrajectoryWriter({}, {}).value();
  const std::string table = "t";
  std::vector<ItemColumn> columns(1);
  columns[0].ranges.resize(1);
  int64_t n = 0;
  const Meter meter(server);
  const double start = ThreadSeconds();
  while (n % 64 != 0 || meter.seconds() < seconds) {
    StepRef ref;
    Check(writer->Append(&step.view(), 1, false, &ref));
    columns[0].ranges[0] = {0, ref.row, 1};
    Check(writer->CreateItem(table, 1, columns, {}).status());
    ++n;
  }
  const double in_calls = ThreadSeconds() - start;
  Check(writer->Flush(0, {}));
  meter.Print("insert", 4 * floats, where, n);
  std::printf("       of which %.2f us on the actor's thread\n",
              1e6 * in_calls / static_cast<double>(n));
}

void SampleAll(Client* client, int64_t floats, double seconds, const char* where, pid_t server) {
  SamplerOptions options;
  options.table = "t";
  options.max_in_flight_samples_per_worker = 256;
  const auto sampler = client->NewSampler(options).value();
  std::vector<float> batch(256 * floats);
  int64_t n = 0;
  const Meter meter(server);
  while (n % 256 != 0 || meter.seconds() < seconds) {
    Result<Sample> sample = sampler->Next({});
    Check(sample.status());
    Check(sample->ReadColumn(0, batch.data() + (n % 256) * floats, 4 * floats));
    ++n;
  }
  meter.Print("sample", 4 * floats, where, n);
}

void Run(const std::string& address, double seconds, const char* where, pid_t server,
         const std::string& filter) {
  const auto client = Client::Create(address);
  for (const int64_t floats : {100, 1000, 10'000}) {
    const std::string name = " " + std::to_string(4 * floats) + " B " + where;
    const auto is_wanted = [&](const std::string& what) {
      return (what + name).find(filter) != std::string::npos;
    };
    if (!is_wanted("insert") && !is_wanted("sample")) continue;
    Check(client->Reset("t", {}));
    Insert(client.get(), floats, is_wanted("insert") ? seconds : 0.3, where, server);
    if (is_wanted("sample")) SampleAll(client.get(), floats, seconds, where, server);
  }
}

}  // namespace
}  // namespace reverb_tf

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const std::string filter = argc > 2 ? argv[2] : "";
  const reverb_tf::ServerProcess other;
  reverb_tf::Run(other.address(), seconds, "other process", other.pid(), filter);
  const auto server = reverb_tf::StartServer();
  reverb_tf::Run("localhost:" + std::to_string(server->port()), seconds, "same process", 0, filter);
  return 0;
}

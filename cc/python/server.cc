#include "cc/python/server.h"

#include <new>
#include <string>
#include <utility>

#include "cc/python/arguments.h"
#include "cc/python/checkpoint.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/process.h"
#include "cc/python/table.h"
#include "reverb_tf/server.h"

namespace reverb_tf::python {
namespace {

class NativeServer {
 public:
  explicit NativeServer(std::unique_ptr<reverb_tf::Server> server) : server_(std::move(server)) {}
  NativeServer(NativeServer&&) noexcept = default;
  ~NativeServer() {
    if (server_ == nullptr) return;
    if (ForkedAfterUse()) {
      new std::shared_ptr<reverb_tf::Server>(
          std::move(server_));  // leaked on purpose, see process.h
      return;
    }
    GilRelease release;
    server_.reset();
  }

  static NativeServer Start(nb::handle tables, nb::handle port, nb::handle checkpointer,
                            nb::handle host, nb::handle progress) {
    ServerOptions options;
    if (!checkpointer.is_none()) options.checkpoint = CheckpointerOptions(checkpointer);
    options.host = TextArgument(host, "host");
    options.port = Int32Argument(port, "port");
    for (nb::handle table : tables) {
      if (!nb::isinstance<NativeTable>(table)) {
        ThrowPython(PyExc_TypeError,
                    "priority_tables must hold native tables, got " + ShortRepr(table.ptr()) + ".");
      }
      options.tables.push_back(nb::cast<const NativeTable&>(table).table);
    }
    UseProcess();
    return NativeServer(ValueOrThrow(RunBlocking(kInfiniteDuration, [&](const WaitOptions& wait) {
      options.load = LoadOptions(progress, wait);
      return reverb_tf::Server::Start(std::move(options));
    })));
  }

  // (path, items, bytes, [difference, ...]); the path is "" if nothing was loaded.
  nb::tuple Restored() const {
    const RestoreReport& report = server_->restored();
    nb::list differences;
    for (const std::string& line : report.differences) {
      differences.append(nb::str(line.data(), line.size()));
    }
    return nb::make_tuple(nb::str(report.path.data(), report.path.size()), report.num_items,
                          report.num_bytes, differences);
  }

  nb::str Checkpoint(nb::handle timeout) {
    CheckProcess();
    std::shared_ptr<reverb_tf::Server> server = server_;
    const std::string path =
        ValueOrThrow(RunBlocking(TimeoutFromSeconds(timeout), [&](const WaitOptions& wait) {
          return server->Checkpoint(wait);
        }));
    return nb::str(path.data(), path.size());
  }

  int port() const { return server_->port(); }

  void Stop() {
    if (ForkedAfterUse()) return;
    std::shared_ptr<reverb_tf::Server> server = server_;
    GilRelease release;
    server->Stop();
  }

  // False: the server was stopped. Ctrl-C raises KeyboardInterrupt.
  bool Wait(nb::handle timeout) {
    CheckProcess();
    std::shared_ptr<reverb_tf::Server> server = server_;
    ThrowIfError(RunBlocking(TimeoutFromSeconds(timeout),
                             [&](const WaitOptions& wait) { return server->Wait(wait); }));
    return false;
  }

 private:
  std::shared_ptr<reverb_tf::Server> server_;
};

}  // namespace

void DefineServer(nb::module_& m) {
  nb::class_<NativeServer>(m, "Server", "The native part of a reverb_tf.Server.")
      .def(
          "__init__",
          [](NativeServer* self, nb::handle tables, nb::handle port, nb::handle checkpointer,
             nb::handle host, nb::handle progress) {
            new (self)
                NativeServer(NativeServer::Start(tables, port, checkpointer, host, progress));
          },
          nb::arg("priority_tables"), nb::arg("port"), nb::arg("checkpointer").none() = nb::none(),
          nb::kw_only(), nb::arg("host") = "[::]", nb::arg("progress").none() = nb::none())
      .def_prop_ro("port", &NativeServer::port)
      .def("restored", &NativeServer::Restored)
      .def("Checkpoint", &NativeServer::Checkpoint, nb::arg("timeout").none() = nb::none())
      .def("Stop", &NativeServer::Stop)
      .def("Wait", &NativeServer::Wait, nb::arg("timeout").none() = nb::none());
}

}  // namespace reverb_tf::python

// reverb_tf.Client's native part.
#include "cc/python/client.h"

#include <string>
#include <utility>
#include <vector>

#include "cc/python/arguments.h"
#include "cc/python/array_in.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/items.h"
#include "cc/python/native_writer.h"
#include "cc/python/nest.h"
#include "cc/python/process.h"
#include "cc/python/sampler.h"
#include "cc/python/structured_writer.h"
#include "cc/python/writer.h"
#include "reverb_tf/client.h"

namespace reverb_tf::python {
namespace {

std::vector<TableAndPriority> Targets(const nb::dict& priorities) {
  std::vector<TableAndPriority> targets;
  for (auto [table, priority] : priorities) {
    targets.push_back({TextArgument(table, "A table's name"), PriorityArgument(priority)});
  }
  return targets;
}

nb::object KeyList(const std::vector<uint64_t>& keys) {
  nb::list list;
  for (uint64_t key : keys) list.append(nb::int_(key));
  return list;
}

class NativeClient {
  // First, as their result types are deduced.
  template <typename Function>
  auto Call(Duration timeout, Function&& function) {
    CheckProcess();
    std::shared_ptr<Client> client = client_;
    return ValueOrThrow(
        RunBlocking(timeout, [&](const WaitOptions& wait) { return function(*client, wait); }));
  }

  template <typename Function>
  void Check(Duration timeout, Function&& function) {
    CheckProcess();
    std::shared_ptr<Client> client = client_;
    ThrowIfError(
        RunBlocking(timeout, [&](const WaitOptions& wait) { return function(*client, wait); }));
  }

 public:
  explicit NativeClient(nb::handle address) {
    std::string text = TextArgument(address, "server_address");
    UseProcess();
    client_ = Client::Create(std::move(text));
  }
  NativeClient(NativeClient&&) noexcept = default;
  ~NativeClient() {
    if (client_ == nullptr) return;
    if (ForkedAfterUse()) {
      new std::shared_ptr<Client>(std::move(client_));  // leaked on purpose, see process.h
      return;
    }
    GilRelease release;
    client_.reset();
  }

  nb::object Insert(nb::handle data, const nb::dict& priorities, nb::handle timeout) {
    Duration limit = TimeoutFromSeconds(timeout);
    ArrayViews views;
    VisitLeaves(data.ptr(), [&views, data](PyObject* leaf) {
      views.Add(leaf, [&views, data] {
        nb::list leaves = FlattenWithPath(data);
        return nb::object(leaves[static_cast<size_t>(views.size())][0]);
      });
    });
    std::vector<TableAndPriority> targets = Targets(priorities);
    return KeyList(Call(limit, [&](Client& client, const WaitOptions& wait) {
      return client.Insert(views.data(), views.size(), targets, wait);
    }));
  }

  void MutatePriorities(nb::handle table, nb::handle updates, nb::handle deletes,
                        nb::handle timeout) {
    std::string name = TextArgument(table, "table");
    Duration limit = TimeoutFromSeconds(timeout);
    std::vector<KeyWithPriority> update_list;
    for (nb::handle pair : updates) {
      update_list.push_back({KeyArgument(pair[0]), PriorityArgument(nb::object(pair[1]))});
    }
    std::vector<uint64_t> delete_list;
    for (nb::handle key : deletes) delete_list.push_back(KeyArgument(key));
    Mutate(name, update_list, delete_list, limit);
  }

  void UpdateDict(nb::handle table, const nb::dict& updates, nb::handle deletes,
                  nb::handle timeout) {
    std::string name = TextArgument(table, "table");
    Duration limit = TimeoutFromSeconds(timeout);
    std::vector<KeyWithPriority> update_list;
    update_list.reserve(nb::len(updates));
    for (auto [key, priority] : updates)
      update_list.push_back({KeyArgument(key), PriorityArgument(priority)});
    std::vector<uint64_t> delete_list;
    for (nb::handle key : deletes) delete_list.push_back(KeyArgument(key));
    Mutate(name, update_list, delete_list, limit);
  }

  void Reset(nb::handle table, nb::handle timeout) {
    std::string name = TextArgument(table, "table");
    Check(TimeoutFromSeconds(timeout),
          [&](Client& client, const WaitOptions& wait) { return client.Reset(name, wait); });
  }

  const std::shared_ptr<Client>& client() const { return client_; }

  // A limit of 0 or less is none.
  nb::list ServerInfo(nb::handle timeout_sec) {
    double seconds = timeout_sec.is_none() ? 0.0 : PyFloat_AsDouble(timeout_sec.ptr());
    bool unlimited = seconds <= 0.0 && PyErr_Occurred() == nullptr;
    PyErr_Clear();  // TimeoutFromSeconds says what is wrong
    reverb_tf::ServerInfo info =
        Call(unlimited ? kInfiniteDuration : TimeoutFromSeconds(timeout_sec),
             [](Client& client, const WaitOptions& wait) { return client.GetServerInfo(wait); });
    nb::list tables;
    for (const std::string& table : info.tables)
      tables.append(nb::bytes(table.data(), table.size()));
    return tables;
  }

  std::string Checkpoint(nb::handle timeout) {
    return Call(TimeoutFromSeconds(timeout),
                [](Client& client, const WaitOptions& wait) { return client.Checkpoint(wait); });
  }

  NativeWriter NewTrajectoryWriter(nb::handle chunker, bool validate_items, nb::handle timeout) {
    TrajectoryWriterOptions options;
    options.validate_items = validate_items;
    options.chunker = ChunkerOptionsOf(chunker);
    return NativeWriter(
        Call(TimeoutFromSeconds(timeout), [&](Client& client, const WaitOptions& wait) {
          return client.NewTrajectoryWriter(options, wait);
        }));
  }

  // Owned by the caller.
  NativeStructuredWriter* NewStructuredWriter(const nb::list& serialized_configs) {
    std::vector<std::string> configs;
    for (nb::handle config : serialized_configs) {
      if (!nb::isinstance<nb::bytes>(config)) {
        ThrowPython(PyExc_TypeError,
                    "A config must be serialized (bytes), got " + ShortRepr(config.ptr()) + ".");
      }
      const auto bytes = nb::borrow<nb::bytes>(config);
      configs.emplace_back(bytes.c_str(), bytes.size());
    }
    return new NativeStructuredWriter(Call(
        kInfiniteDuration,
        [&](Client& client, const WaitOptions&) { return client.NewStructuredWriter(configs); }));
  }

  NativeStepWriter NewWriter(int32_t chunk_length, int32_t max_timesteps, bool delta_encoded,
                             int64_t max_in_flight_items, nb::handle timeout) {
    WriterOptions options{chunk_length, max_timesteps, delta_encoded, max_in_flight_items};
    auto writer = Call(TimeoutFromSeconds(timeout), [&](Client& client, const WaitOptions& wait) {
      return client.NewWriter(options, wait);
    });
    return NativeStepWriter(std::move(writer), options);
  }

  NativeSampler NewSampler(nb::handle table, int64_t max_samples, int64_t buffer_size,
                           nb::handle rate_limiter_timeout) {
    SamplerOptions options;
    options.table = TextArgument(table, "table");
    options.max_samples = max_samples;
    options.max_in_flight_samples_per_worker = buffer_size;
    options.rate_limiter_timeout = TimeoutFromSeconds(rate_limiter_timeout);
    return NativeSampler(Call(kInfiniteDuration, [&](Client& client, const WaitOptions&) {
      return client.NewSampler(options);
    }));
  }

 private:
  void Mutate(const std::string& table, const std::vector<KeyWithPriority>& updates,
              const std::vector<uint64_t>& deletes, Duration timeout) {
    Check(timeout, [&](Client& client, const WaitOptions& wait) {
      return client.MutatePriorities(table, updates.data(), updates.size(), deletes.data(),
                                     deletes.size(), wait);
    });
  }

  std::shared_ptr<Client> client_;
};

}  // namespace

void DefineClient(nb::module_& m) {
  nb::class_<NativeClient>(m, "Client", "The calls of a reverb_tf.Client.")
      .def(nb::init<nb::handle>(), nb::arg("server_name"))
      .def("insert", &NativeClient::Insert, nb::arg("data").none(), nb::arg("priorities"),
           nb::arg("timeout").none())
      .def("mutate_priorities", &NativeClient::UpdateDict, nb::arg("table"), nb::arg("updates"),
           nb::arg("deletes"), nb::arg("timeout").none())
      .def("MutatePriorities", &NativeClient::MutatePriorities, nb::arg("table"),
           nb::arg("updates"), nb::arg("deletes"), nb::arg("timeout").none() = nb::none())
      .def("Reset", &NativeClient::Reset, nb::arg("table"), nb::arg("timeout").none() = nb::none())
      .def(
          "get",
          [](const NativeClient& self, nb::handle table, nb::handle keys, nb::handle timeout,
             nb::handle structure) {
            return GetItems(self.client(), table, keys, timeout, structure);
          },
          nb::arg("table"), nb::arg("keys"), nb::arg("timeout").none(), nb::arg("structure").none())
      .def(
          "list_items",
          [](const NativeClient& self, nb::handle table, uint64_t start, int32_t page_size,
             nb::handle timeout) {
            return ListItems(self.client(), table, start, page_size, timeout);
          },
          nb::arg("table"), nb::arg("start"), nb::arg("page_size"), nb::arg("timeout").none())
      .def(
          "delete",
          [](const NativeClient& self, nb::handle table, nb::handle keys, nb::handle timeout) {
            return DeleteItems(self.client(), table, keys, timeout);
          },
          nb::arg("table"), nb::arg("keys"), nb::arg("timeout").none())
      .def(
          "set_rate_limiter",
          [](const NativeClient& self, nb::handle table, nb::handle limiter, nb::handle timeout) {
            SetRateLimiter(self.client(), table, limiter, timeout);
          },
          nb::arg("table"), nb::arg("rate_limiter"), nb::arg("timeout").none())
      .def("ServerInfo", &NativeClient::ServerInfo, nb::arg("timeout_sec").none() = nb::none())
      .def(
          "Checkpoint",
          [](NativeClient& self, nb::handle timeout) {
            std::string path = self.Checkpoint(timeout);
            return nb::steal(PyUnicode_DecodeFSDefaultAndSize(
                path.data(), static_cast<Py_ssize_t>(path.size())));
          },
          nb::arg("timeout").none() = nb::none())
      .def("NewTrajectoryWriter", &NativeClient::NewTrajectoryWriter, nb::arg("chunker_options"),
           nb::arg("validate_items"), nb::arg("timeout").none() = nb::none())
      .def("NewStructuredWriter", &NativeClient::NewStructuredWriter, nb::arg("configs"))
      .def("NewWriter", &NativeClient::NewWriter, nb::arg("chunk_length"), nb::arg("max_timesteps"),
           nb::arg("delta_encoded") = false, nb::arg("max_in_flight_items") = 25,
           nb::arg("timeout").none() = nb::none())
      .def("NewSampler", &NativeClient::NewSampler, nb::arg("table"), nb::arg("max_samples"),
           nb::arg("buffer_size"), nb::arg("rate_limiter_timeout").none() = nb::none());
}

}  // namespace reverb_tf::python

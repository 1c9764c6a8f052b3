#include "reverb_tf/table.h"

#include <nanobind/stl/string_view.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "cc/python/arguments.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/server.h"
#include "cc/python/table.h"

namespace reverb_tf::python {
namespace {

struct KindName {
  std::string_view name;
  SelectorOptions::Kind kind;
};
constexpr std::array<KindName, 6> kKinds = {{{"fifo", SelectorOptions::Kind::kFifo},
                                             {"lifo", SelectorOptions::Kind::kLifo},
                                             {"uniform", SelectorOptions::Kind::kUniform},
                                             {"prioritized", SelectorOptions::Kind::kPrioritized},
                                             {"min_heap", SelectorOptions::Kind::kMinHeap},
                                             {"max_heap", SelectorOptions::Kind::kMaxHeap}}};

// `selector` is an item_selectors.ItemSelector.
SelectorOptions Selector(nb::handle selector) {
  SelectorOptions options;
  auto kind = nb::cast<std::string_view>(selector.attr("kind"));
  options.priority_exponent = nb::cast<double>(selector.attr("priority_exponent"));
  for (const KindName& known : kKinds) {
    if (known.name != kind) continue;
    options.kind = known.kind;
    return options;
  }
  ThrowPython(PyExc_ValueError, "There is no selector of kind " + std::string(kind) + ".");
}

// `limiter` is the RateLimiter that rate_limiters.RateLimiter.internal_limiter returns.
RateLimiterOptions Limiter(nb::handle limiter) {
  RateLimiterOptions options;
  options.samples_per_insert = nb::cast<double>(limiter.attr("samples_per_insert"));
  options.min_size_to_sample = nb::cast<int64_t>(limiter.attr("min_size_to_sample"));
  options.min_diff = nb::cast<double>(limiter.attr("min_diff"));
  options.max_diff = nb::cast<double>(limiter.attr("max_diff"));
  return options;
}

NativeTable MakeTable(nb::handle name, nb::handle sampler, nb::handle remover, int32_t max_size,
                      int32_t max_times_sampled, nb::handle rate_limiter, nb::handle signature) {
  TableOptions options;
  options.name = TextArgument(name, "name");
  options.sampler = Selector(sampler);
  options.remover = Selector(remover);
  options.max_size = max_size;
  options.max_times_sampled = max_times_sampled;
  options.rate_limiter = Limiter(rate_limiter);
  if (!signature.is_none()) {
    auto bytes = nb::cast<nb::bytes>(signature);
    options.signature = std::string(bytes.c_str(), bytes.size());
  }
  return NativeTable{ValueOrThrow(reverb_tf::Table::Create(std::move(options)))};
}

template <typename Call>
auto WithoutGil(const NativeTable& table, Call&& call) {
  GilRelease release;
  return call(*table.table);
}

}  // namespace

void DefineTable(nb::module_& m) {
  nb::class_<NativeTable>(m, "Table", "The native part of a reverb_tf.Table.")
      .def_static("create", &MakeTable, nb::arg("name"), nb::arg("sampler"), nb::arg("remover"),
                  nb::arg("max_size"), nb::arg("max_times_sampled"), nb::arg("rate_limiter"),
                  nb::arg("signature").none())
      .def("name", [](const NativeTable& self) { return nb::str(self.table->name().c_str()); })
      .def("can_sample",
           [](const NativeTable& self, int64_t n) {
             return ValueOrThrow(WithoutGil(
                 self, [n](const reverb_tf::Table& table) { return table.CanSample(n); }));
           })
      .def("can_insert",
           [](const NativeTable& self, int64_t n) {
             return ValueOrThrow(WithoutGil(
                 self, [n](const reverb_tf::Table& table) { return table.CanInsert(n); }));
           })
      .def("info",
           [](const NativeTable& self) {
             std::string info = WithoutGil(
                 self, [](const reverb_tf::Table& table) { return table.SerializedInfo(); });
             return nb::bytes(info.data(), info.size());
           })
      .def("__repr__", [](const NativeTable& self) {
        std::string text =
            WithoutGil(self, [](const reverb_tf::Table& table) { return table.DebugString(); });
        return nb::str(text.c_str(), text.size());
      });
}

}  // namespace reverb_tf::python

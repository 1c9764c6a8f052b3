#include "reverb_tf/table.h"

#include <nanobind/stl/string_view.h>

#include <array>
#include <new>
#include <optional>
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
SelectorOptions Selector(nb::handle selector, const char* role) {
  if (!nb::hasattr(selector, "kind")) {
    ThrowPython(PyExc_TypeError,
                std::string(role) + " must be a selector, got " + ShortRepr(selector.ptr()) + ".");
  }
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

std::optional<std::string> Signature(nb::handle signature) {
  if (signature.is_none()) return std::nullopt;
  if (!PyBytes_Check(signature.ptr())) {
    ThrowPython(PyExc_TypeError, "signature must be the bytes of a StructuredValue or None, got " +
                                     ShortRepr(signature.ptr()) + ".");
  }
  return std::string(PyBytes_AS_STRING(signature.ptr()),
                     static_cast<size_t>(PyBytes_GET_SIZE(signature.ptr())));
}

NativeTable MakeTable(nb::handle name, nb::handle sampler, nb::handle remover, nb::handle max_size,
                      nb::handle max_times_sampled, nb::handle rate_limiter, nb::handle extensions,
                      nb::handle signature, nb::handle seed) {
  TableOptions options;
  options.name = TextArgument(name, "name");
  options.sampler = Selector(sampler, "sampler");
  options.remover = Selector(remover, "remover");
  options.max_size = Int32Argument(max_size, "max_size");
  options.max_times_sampled = Int32Argument(max_times_sampled, "max_times_sampled");
  options.rate_limiter = LimiterOptions(rate_limiter);
  for (nb::handle extension : extensions) {
    ThrowPython(PyExc_TypeError,
                "This release knows no table extensions, got " + ShortRepr(extension.ptr()) + ".");
  }
  options.signature = Signature(signature);
  if (!seed.is_none()) options.seed = Uint64Argument(seed, "seed");
  return NativeTable{ValueOrThrow(reverb_tf::Table::Create(std::move(options)))};
}

template <typename Call>
auto WithoutGil(const NativeTable& table, Call&& call) {
  GilRelease release;
  return call(*table.table);
}

}  // namespace

nb::tuple SelectorRecord(const SelectorOptions& selector) {
  std::string_view name;
  for (const KindName& known : kKinds) {
    if (known.kind == selector.kind) name = known.name;
  }
  return nb::make_tuple(nb::str(name.data(), name.size()), selector.priority_exponent);
}

RateLimiterOptions LimiterOptions(nb::handle limiter) {
  if (!nb::hasattr(limiter, "samples_per_insert")) {
    ThrowPython(PyExc_TypeError,
                "rate_limiter must be the internal_limiter of a rate limiter, got " +
                    ShortRepr(limiter.ptr()) + ".");
  }
  RateLimiterOptions options;
  options.samples_per_insert = nb::cast<double>(limiter.attr("samples_per_insert"));
  options.min_size_to_sample = nb::cast<int64_t>(limiter.attr("min_size_to_sample"));
  options.min_diff = nb::cast<double>(limiter.attr("min_diff"));
  options.max_diff = nb::cast<double>(limiter.attr("max_diff"));
  return options;
}

void DefineTable(nb::module_& m) {
  nb::class_<NativeTable>(m, "Table", "The native part of a reverb_tf.Table.")
      .def(
          "__init__",
          [](NativeTable* self, nb::handle name, nb::handle sampler, nb::handle remover,
             nb::handle max_size, nb::handle max_times_sampled, nb::handle rate_limiter,
             nb::handle extensions, nb::handle signature, nb::handle seed) {
            new (self) NativeTable(MakeTable(name, sampler, remover, max_size, max_times_sampled,
                                             rate_limiter, extensions, signature, seed));
          },
          nb::arg("name").none(), nb::arg("sampler").none(), nb::arg("remover").none(),
          nb::arg("max_size"), nb::arg("max_times_sampled"), nb::arg("rate_limiter").none(),
          nb::arg("extensions") = nb::tuple(), nb::arg("signature").none() = nb::none(),
          nb::kw_only(), nb::arg("seed").none() = nb::none())
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
      .def("set_rate_limiter",
           [](const NativeTable& self, nb::handle limiter) {
             RateLimiterOptions options = LimiterOptions(limiter);
             GilRelease release;
             Status status = self.table->SetRateLimiter(options);
             release.Reacquire();
             ThrowIfError(status);
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

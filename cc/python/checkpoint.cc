#include "cc/python/checkpoint.h"

#include <memory>
#include <string>
#include <utility>

#include "cc/python/arguments.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/nest.h"
#include "cc/python/replay_sample.h"
#include "cc/python/server.h"

namespace reverb_tf::python {
namespace {

nb::str Text(const std::string& text) { return nb::str(text.data(), text.size()); }

class NativeReader {
 public:
  static NativeReader Open(nb::handle path, nb::handle progress) {
    const std::string folder = TextArgument(path, "path");
    return NativeReader(ValueOrThrow(RunBlocking(kInfiniteDuration, [&](const WaitOptions& wait) {
      return CheckpointReader::Open(folder, LoadOptions(progress, wait));
    })));
  }

  const CheckpointReader& reader() const { return *reader_; }

  // The table's settings as keyword arguments of _reverb.Table, and its counters.
  nb::list Tables() const {
    nb::list tables;
    for (const CheckpointTable& table : reader_->tables()) {
      nb::dict record;
      record["name"] = Text(table.options.name);
      record["sampler"] = SelectorRecord(table.options.sampler);
      record["remover"] = SelectorRecord(table.options.remover);
      record["max_size"] = table.options.max_size;
      record["max_times_sampled"] = table.options.max_times_sampled;
      const RateLimiterOptions& limiter = table.options.rate_limiter;
      record["rate_limiter"] =
          nb::make_tuple(limiter.samples_per_insert, limiter.min_size_to_sample, limiter.min_diff,
                         limiter.max_diff);
      record["signature"] = table.options.signature
                                ? nb::object(nb::bytes(table.options.signature->data(),
                                                       table.options.signature->size()))
                                : nb::none();
      record["num_items"] = table.num_items;
      record["inserts"] = table.inserts;
      record["samples"] = table.samples;
      record["num_deleted_episodes"] = table.num_deleted_episodes;
      record["num_unique_samples"] = table.num_unique_samples;
      tables.append(record);
    }
    return tables;
  }

  std::unique_ptr<CheckpointReader::Items> ReadItems(nb::handle table) {
    const std::string name = TextArgument(table, "table");
    return ValueOrThrow(RunBlocking(kInfiniteDuration,
                                    [&](const WaitOptions&) { return reader_->ReadItems(name); }));
  }

 private:
  explicit NativeReader(std::unique_ptr<CheckpointReader> reader) : reader_(std::move(reader)) {}

  std::unique_ptr<CheckpointReader> reader_;
};

struct NativeItems {
  std::unique_ptr<CheckpointReader::Items> items;

  // None after the last.
  nb::object Next(nb::handle structure) {
    const Structure* shape = structure.is_none() ? nullptr : &nb::cast<const Structure&>(structure);
    Result<Sample> sample = items->Next();
    if (sample.status().code() == StatusCode::kOutOfRange) return nb::none();
    ThrowIfError(sample.status());
    return MakeReplaySample(MakeInfo(sample->info()), Arrange(ReadColumns(*sample), shape));
  }
};

}  // namespace

CheckpointOptions CheckpointerOptions(nb::handle checkpointer) {
  if (!nb::hasattr(checkpointer, "fallback_checkpoint_path")) {
    ThrowPython(PyExc_TypeError,
                "checkpointer must be a native checkpointer, got " + ShortRepr(checkpointer.ptr()));
  }
  CheckpointOptions options;
  options.path = TextArgument(checkpointer.attr("path"), "path");
  nb::object fallback = checkpointer.attr("fallback_checkpoint_path");
  if (!fallback.is_none()) {
    options.fallback_path = TextArgument(fallback, "fallback_checkpoint_path");
  }
  options.format = TextArgument(checkpointer.attr("format"), "format") == "reverb"
                       ? CheckpointFormat::kReverb
                       : CheckpointFormat::kIncremental;
  options.keep = nb::cast<int64_t>(checkpointer.attr("keep"));
  options.must_restore = nb::cast<bool>(checkpointer.attr("must_restore"));
  nb::object every = checkpointer.attr("every");
  if (!every.is_none()) options.every = TimeoutFromSeconds(every);
  return options;
}

CheckpointLoadOptions LoadOptions(nb::handle progress, const WaitOptions& wait) {
  CheckpointLoadOptions options;
  options.interrupted = wait.interrupted;
  if (progress.is_none()) return options;
  options.progress = [progress](int64_t done, int64_t total) {
    nb::gil_scoped_acquire gil;
    nb::object result = nb::steal(PyObject_CallFunction(progress.ptr(), "LL",
                                                        static_cast<long long>(done),     // NOLINT
                                                        static_cast<long long>(total)));  // NOLINT
    if (!result.is_valid()) PyErr_WriteUnraisable(progress.ptr());
  };
  return options;
}

void DefineCheckpointReader(nb::module_& m) {
  nb::class_<NativeItems>(m, "CheckpointItems", "The items of one table of a checkpoint.")
      .def("next", &NativeItems::Next, nb::arg("structure").none());
  nb::class_<NativeReader>(m, "CheckpointReader", "What a reverb_tf.CheckpointReader reads with.")
      .def_static("open", &NativeReader::Open, nb::arg("path"), nb::arg("progress").none())
      .def_prop_ro("path", [](const NativeReader& self) { return Text(self.reader().path()); })
      .def_prop_ro("format",
                   [](const NativeReader& self) {
                     const bool reverb = self.reader().format() == CheckpointFormat::kReverb;
                     return nb::str(reverb ? "reverb" : "incremental");
                   })
      .def_prop_ro("num_bytes", [](const NativeReader& self) { return self.reader().num_bytes(); })
      .def("tables", &NativeReader::Tables)
      .def(
          "items",
          [](NativeReader& self, nb::handle table) { return NativeItems{self.ReadItems(table)}; },
          nb::arg("table"));
}

}  // namespace reverb_tf::python

#include "cc/python/native_writer.h"

#include <nanobind/stl/string.h>

#include <map>
#include <memory>

#include "cc/python/array_in.h"
#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

// Below this it costs more to give the GIL away than to keep it.
constexpr size_t kAppendWithoutGilBytes = 32 << 10;

Duration FromMilliseconds(double milliseconds) {
  constexpr double kMaxMilliseconds = 9.0e12;  // what fits into nanoseconds
  if (milliseconds >= kMaxMilliseconds) return kInfiniteDuration;
  return std::chrono::nanoseconds(static_cast<int64_t>(milliseconds * 1e6));
}

int32_t IntAttribute(nb::handle object, const char* name, int32_t missing) {
  nb::object value = nb::getattr(object, name, nb::none());
  if (value.is_none()) return missing;
  int32_t number = 0;
  if (!nb::try_cast(value, number)) {
    ThrowPython(PyExc_TypeError,
                std::string(name) + " must be a 32-bit int, got " + ShortRepr(value.ptr()) + ".");
  }
  return number;
}

// The writers that have rows of an item, used until it is made.
class WritersOfItem {
 public:
  explicit WritersOfItem(const std::shared_ptr<WriterHandle>& own) : own_(own.get()), use_(*own) {}

  WriterHandle::Use& own() { return use_; }

  // Says in `ranges` that they are of `writer`.
  void Mark(const std::shared_ptr<WriterHandle>& writer, std::vector<RowRange>* ranges) {
    if (writer.get() == own_) return;
    auto& use = others_[writer.get()];
    if (use == nullptr) use = std::make_unique<WriterHandle::Use>(*writer);
    for (RowRange& range : *ranges) range.writer = use->get();
  }

 private:
  const WriterHandle* const own_;
  WriterHandle::Use use_;
  std::map<const WriterHandle*, std::unique_ptr<WriterHandle::Use>> others_;
};

}  // namespace

ChunkerOptions ChunkerOptionsOf(nb::handle options) {
  ChunkerOptions chunker;
  chunker.num_keep_alive_refs = IntAttribute(options, "num_keep_alive_refs", 0);
  chunker.max_chunk_length = IntAttribute(options, "max_chunk_length", 0);
  return chunker;
}

Status AppendViews(WriterHandle& handle, const ArrayViews& views, bool partial, StepRef* refs) {
  WriterHandle::Use writer(handle);
  if (views.num_bytes() < kAppendWithoutGilBytes)
    return writer->Append(views.data(), views.size(), partial, refs);
  GilRelease release;
  Status status = writer->Append(views.data(), views.size(), partial, refs);
  release.Reacquire();
  return status;
}

Status AppendSequenceOfViews(WriterHandle& handle, const ArrayViews& views, StepRef* refs) {
  WriterHandle::Use writer(handle);
  if (views.num_bytes() < kAppendWithoutGilBytes)
    return writer->AppendSequence(views.data(), views.size(), refs);
  GilRelease release;
  Status status = writer->AppendSequence(views.data(), views.size(), refs);
  release.Reacquire();
  return status;
}

nb::list NativeWriter::Append(nb::list values, bool partial) {
  ArrayViews views;
  for (nb::handle value : values) {
    if (value.is_none()) {
      views.AddAbsent();
    } else {
      views.Add(value.ptr());
    }
  }
  std::vector<StepRef> refs(static_cast<size_t>(views.size()));
  ThrowIfError(AppendViews(*handle_, views, partial, refs.data()));
  nb::list result;
  for (const StepRef& ref : refs) {
    result.append(ref.column < 0 ? nb::none() : nb::cast(CellRef{handle_, ref}));
  }
  return result;
}

uint64_t NativeWriter::CreateItem(const std::string& table, double priority, nb::list columns,
                                  nb::list squeezed) {
  if (nb::len(columns) != nb::len(squeezed)) {
    ThrowPython(PyExc_ValueError, "Got " + std::to_string(nb::len(columns)) + " columns but " +
                                      std::to_string(nb::len(squeezed)) + " squeeze flags.");
  }
  std::vector<Column> made;
  for (size_t i = 0; i < nb::len(columns); ++i) {
    made.emplace_back(columns[i], nb::cast<bool>(squeezed[i]), nb::none());
  }
  std::vector<const Column*> pointers;
  for (const Column& column : made) pointers.push_back(&column);
  return CreateItemOfColumns(table, priority, pointers, kInfiniteDuration);
}

uint64_t NativeWriter::CreateItemOfColumns(const std::string& table, double priority,
                                           const std::vector<const Column*>& columns,
                                           Duration timeout) {
  WritersOfItem writers(handle_);
  std::vector<ItemColumn> item(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = *columns[i];
    item[i].squeeze = column.squeeze();
    item[i].ranges = column.ranges();
    if (column.writer() != nullptr) writers.Mark(column.writer(), &item[i].ranges);
    for (const nb::object& reference : column.references()) {
      if (!nb::isinstance<CellRef>(reference)) {
        ThrowPython(PyExc_ValueError, "Error in column " + std::to_string(i) + ": " +
                                          ShortRepr(reference.ptr()) +
                                          " is no data reference of a writer of this library.");
      }
      const CellRef& cell = nb::cast<const CellRef&>(reference);
      std::vector<RowRange> range = {{cell.ref.column, cell.ref.row, 1}};
      writers.Mark(cell.writer, &range);
      item[i].ranges.push_back(range[0]);
    }
  }
  return ValueOrThrow(RunBlocking(timeout, [&](const WaitOptions& wait) {
    return writers.own()->CreateItem(table, priority, item, wait);
  }));
}

void NativeWriter::Flush(int64_t max_pending, Duration timeout) {
  WriterHandle::Use writer(*handle_);
  ThrowIfError(RunBlocking(
      timeout, [&](const WaitOptions& wait) { return writer->Flush(max_pending, wait); }));
}

void NativeWriter::EndEpisode(bool clear_buffers, Duration timeout) {
  WriterHandle::Use writer(*handle_);
  ThrowIfError(RunBlocking(
      timeout, [&](const WaitOptions& wait) { return writer->EndEpisode(clear_buffers, wait); }));
}

void NativeWriter::ConfigureChunker(int32_t column, nb::handle options) {
  ChunkerOptions chunker = ChunkerOptionsOf(options);
  WriterHandle::Use writer(*handle_);
  ThrowIfError(writer->Configure(column, chunker));
}

int32_t NativeWriter::max_num_keep_alive_refs() const {
  return handle_->Inspect([](const auto& writer) { return writer.max_num_keep_alive_refs(); });
}

int64_t NativeWriter::episode_steps() const {
  return handle_->Inspect([](const auto& writer) { return writer.episode_steps(); });
}

void DefineNativeWriter(nb::module_& m) {
  nb::class_<NativeWriter>(
      m, "TrajectoryWriter",
      "What a reverb_tf.TrajectoryWriter writes through. Use Client.trajectory_writer().")
      .def("Append", [](NativeWriter& self,
                        nb::list values) { return self.Append(std::move(values), false); })
      .def("AppendPartial",
           [](NativeWriter& self, nb::list values) { return self.Append(std::move(values), true); })
      .def("CreateItem", &NativeWriter::CreateItem)
      .def(
          "Flush",
          [](NativeWriter& self, int64_t max_pending, int64_t timeout_ms) {
            self.Flush(max_pending, timeout_ms > 0
                                        ? FromMilliseconds(static_cast<double>(timeout_ms))
                                        : kInfiniteDuration);
          },
          nb::arg("max_pending") = 0, nb::arg("timeout_ms") = -1)
      .def(
          "EndEpisode",
          [](NativeWriter& self, bool clear_buffers, nb::handle timeout_ms) {
            int64_t milliseconds = -1;
            if (!timeout_ms.is_none()) milliseconds = nb::cast<int64_t>(timeout_ms);
            self.EndEpisode(clear_buffers, milliseconds >= 0
                                               ? FromMilliseconds(static_cast<double>(milliseconds))
                                               : kInfiniteDuration);
          },
          nb::arg("clear_buffers") = true, nb::arg("timeout_ms").none() = nb::none())
      .def(
          "flush_within",
          [](NativeWriter& self, int64_t max_pending, nb::handle seconds) {
            self.Flush(max_pending, TimeoutFromSeconds(seconds));
          },
          nb::arg("max_pending"), nb::arg("timeout").none())
      .def(
          "end_episode_within",
          [](NativeWriter& self, bool clear_buffers, nb::handle seconds) {
            self.EndEpisode(clear_buffers, TimeoutFromSeconds(seconds));
          },
          nb::arg("clear_buffers"), nb::arg("timeout").none())
      .def("Close", &NativeWriter::Close)
      .def("ConfigureChunker", &NativeWriter::ConfigureChunker)
      .def_prop_ro("max_num_keep_alive_refs", &NativeWriter::max_num_keep_alive_refs)
      .def_prop_ro("episode_steps", &NativeWriter::episode_steps);
}

}  // namespace reverb_tf::python

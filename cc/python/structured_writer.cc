#include "cc/python/structured_writer.h"

#include <chrono>
#include <string>
#include <utility>

#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/process.h"

namespace reverb_tf::python {
namespace {

// Thrown, and caught here, where a step has fields that the first one did not have.
struct NewColumn {};

nb::tuple PathTuple(const std::vector<nb::object>& path) {
  nb::list steps;
  for (const nb::object& step : path) steps.append(step);
  return nb::tuple(steps);
}

// None or negative: no limit; 0: what can be had at once.
Duration TimeoutFromMilliseconds(nb::handle milliseconds) {
  if (milliseconds.is_none()) return kInfiniteDuration;
  const auto number = nb::cast<int64_t>(milliseconds);
  if (number < 0) return kInfiniteDuration;
  return TimeoutFromSeconds(nb::float_(static_cast<double>(number) / 1000));
}

}  // namespace

// Marks the writer as used for as long as the object lives.
class NativeStructuredWriter::Use {
 public:
  explicit Use(NativeStructuredWriter* self) : self_(self) {
    CheckProcess();
    if (self->busy_) {
      ThrowStatus(FailedPreconditionError(
          "Another thread is inside a call of this writer; a writer may be used by one thread at a "
          "time."));
    }
    self->busy_ = true;
  }
  ~Use() { self_->busy_ = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  NativeStructuredWriter* const self_;
};

NativeStructuredWriter::~NativeStructuredWriter() {
  if (ForkedAfterUse()) {
    writer_.release();  // NOLINT: leaked on purpose, see process.h
    return;
  }
  GilRelease release;
  writer_.reset();
}

void NativeStructuredWriter::AppendNest(nb::handle data, bool partial, nb::handle timeout) {
  const Use use(this);
  const Duration limit = TimeoutFromSeconds(timeout);
  if (!has_step_) {
    schema_ = AppendSchema();
    paths_.clear();
  }
  Flatten(data);
  AppendValues(partial, limit);
  has_step_ = true;
}

void NativeStructuredWriter::AppendList(const nb::list& values, bool partial) {
  const Use use(this);
  values_.clear();
  for (nb::handle value : values) values_.push_back(nb::borrow(value));
  AppendValues(partial, kInfiniteDuration);
}

void NativeStructuredWriter::Flatten(nb::handle data) {
  if (!schema_.empty()) {
    if (!FlattenKnown(data)) FlattenOther(data);
    return;
  }
  values_.clear();
  schema_.Match(
      data.ptr(), [this](int, PyObject* value) { values_.push_back(nb::borrow(value)); },
      [this](int, const std::vector<nb::object>& path) { paths_.push_back(PathTuple(path)); });
}

// False if `data` is not made as the first step was.
bool NativeStructuredWriter::FlattenKnown(nb::handle data) {
  values_.assign(paths_.size(), nb::object());
  size_t found = 0;
  try {
    schema_.Match(
        data.ptr(),
        [&](int column, PyObject* value) {
          values_[static_cast<size_t>(column)] = nb::borrow(value);
          ++found;
        },
        [](int, const std::vector<nb::object>&) { throw NewColumn(); });
  } catch (const NewColumn&) {
    return false;
  } catch (const nb::python_error& error) {
    const bool other = error.matches(PyExc_KeyError) || error.matches(PyExc_TypeError) ||
                       error.matches(PyExc_ValueError);
    if (!other) throw;
    return false;
  }
  return found == paths_.size();
}

// Other containers will do if the paths of the leaves are the same.
void NativeStructuredWriter::FlattenOther(nb::handle data) {
  const nb::list leaves = FlattenWithPath(data);
  if (nb::len(leaves) != paths_.size()) {
    ThrowPython(PyExc_ValueError, "Flattened data has an unexpected length, got " +
                                      std::to_string(nb::len(leaves)) + " but wanted " +
                                      std::to_string(paths_.size()) + ".");
  }
  for (size_t i = 0; i < paths_.size(); ++i) {
    const nb::object path = leaves[i][0];
    if (!path.equal(paths_[i])) {
      ThrowPython(PyExc_ValueError, "The structure of the data cannot change: column " +
                                        std::to_string(i) + " was " + ShortRepr(paths_[i].ptr()) +
                                        " in the first step and is " + ShortRepr(path.ptr()) +
                                        " now.");
    }
    values_[i] = leaves[i][1];
  }
}

void NativeStructuredWriter::AppendValues(bool partial, Duration timeout) {
  views_.Clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_none() || !writer_->uses_column(static_cast<int32_t>(i))) {
      views_.AddAbsent();
    } else {
      views_.Add(values_[i].ptr());
    }
  }
  values_.clear();
  const Status status = RunBlocking(timeout, [&](const WaitOptions& wait) {
    return writer_->Append(views_.data(), views_.size(), partial, wait);
  });
  views_.Clear();
  ThrowIfError(status);
}

void NativeStructuredWriter::Flush(int64_t max_pending, Duration timeout) {
  const Use use(this);
  ThrowIfError(RunBlocking(
      timeout, [&](const WaitOptions& wait) { return writer_->Flush(max_pending, wait); }));
}

void NativeStructuredWriter::EndEpisode(bool clear_buffers, Duration timeout) {
  const Use use(this);
  ThrowIfError(RunBlocking(
      timeout, [&](const WaitOptions& wait) { return writer_->EndEpisode(clear_buffers, wait); }));
}

nb::list NativeStructuredWriter::Paths() const {
  nb::list paths;
  for (const nb::object& path : paths_) paths.append(path);
  return paths;
}

void DefineStructuredWriter(nb::module_& m) {
  using Writer = NativeStructuredWriter;
  nb::class_<Writer>(m, "StructuredWriter",
                     "What a reverb_tf.structured.StructuredWriter writes through. Use "
                     "Client.structured_writer().")
      .def("append", &Writer::AppendNest, nb::arg("data").none(), nb::arg("partial_step"),
           nb::arg("timeout").none())
      .def("Append", [](Writer& self, const nb::list& values) { self.AppendList(values, false); })
      .def("AppendPartial",
           [](Writer& self, const nb::list& values) { self.AppendList(values, true); })
      .def(
          "Flush",
          [](Writer& self, int64_t max_pending, nb::handle timeout_ms) {
            self.Flush(max_pending, TimeoutFromMilliseconds(timeout_ms));
          },
          nb::arg("max_pending") = 0, nb::arg("timeout_ms").none() = nb::none())
      .def(
          "EndEpisode",
          [](Writer& self, bool clear_buffers, nb::handle timeout_ms) {
            self.EndEpisode(clear_buffers, TimeoutFromMilliseconds(timeout_ms));
          },
          nb::arg("clear_buffers") = true, nb::arg("timeout_ms").none() = nb::none())
      .def(
          "flush_within",
          [](Writer& self, int64_t max_pending, nb::handle seconds) {
            self.Flush(max_pending, TimeoutFromSeconds(seconds));
          },
          nb::arg("max_pending"), nb::arg("timeout").none())
      .def(
          "end_episode_within",
          [](Writer& self, bool clear_buffers, nb::handle seconds) {
            self.EndEpisode(clear_buffers, TimeoutFromSeconds(seconds));
          },
          nb::arg("clear_buffers"), nb::arg("timeout").none())
      .def_prop_ro("step_is_open", &Writer::step_is_open)
      .def("paths", &Writer::Paths);
}

}  // namespace reverb_tf::python

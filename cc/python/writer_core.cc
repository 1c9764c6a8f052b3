#include "cc/python/writer_core.h"

#include <algorithm>
#include <deque>
#include <string>

#include "cc/python/arguments.h"
#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

bool IsAbsent(const nb::object& value) { return !value.is_valid() || value.is_none(); }

nb::tuple PathTuple(const std::vector<nb::object>& path) {
  nb::list steps;
  for (const nb::object& step : path) steps.append(step);
  return nb::tuple(steps);
}

}  // namespace

WriterCore::WriterCore(nb::object internal_writer) : internal_(std::move(internal_writer)) {
  if (!nb::isinstance<NativeWriter>(internal_)) return;
  native_ = nb::inst_ptr<NativeWriter>(internal_);
  default_keep_ = native_->max_num_keep_alive_refs();
}

History& WriterCore::history(size_t column) const {
  return *nb::inst_ptr<History>(histories_[column]);
}

void WriterCore::AddColumn(int column, const std::vector<nb::object>& path) {
  histories_.resize(
      static_cast<size_t>(column));  // without those of an earlier attempt that failed
  nb::tuple key = PathTuple(path);
  nb::object options =
      pending_options_.contains(key) ? nb::object(pending_options_[key]) : nb::none();
  int64_t capacity = default_keep_;
  if (!options.is_none()) {
    capacity = nb::cast<int64_t>(options.attr("num_keep_alive_refs"));
  } else if (native_ == nullptr) {
    capacity = nb::cast<int64_t>(internal_.attr("max_num_keep_alive_refs"));
  }
  int64_t padding = histories_.empty() ? 0 : history(0).size();
  nb::object created = nb::cast(History(key, capacity, padding));
  if (!options.is_none()) internal_.attr("ConfigureChunker")(column, options);
  histories_.push_back(std::move(created));
}

void WriterCore::Flatten(nb::handle data) {
  std::fill(values_.begin(), values_.end(), nb::object());
  schema_.Match(
      data.ptr(),
      [this](int column, PyObject* value) {
        if (values_.size() <= static_cast<size_t>(column))
          values_.resize(static_cast<size_t>(column) + 1);
        values_[static_cast<size_t>(column)] = nb::borrow(value);
      },
      [this](int column, const std::vector<nb::object>& path) { AddColumn(column, path); });
  values_.resize(static_cast<size_t>(schema_.num_columns()));
}

void WriterCore::CheckOpenStep() const {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (IsAbsent(values_[i]) || history(i).CanSetLast()) continue;
    ThrowPython(
        PyExc_ValueError,
        "Field " + ShortRepr(history(i).path().ptr()) +
            " has already been set in the active step by previous (partial) append call and "
            "thus must be omitted or set to None but got: " +
            ShortRepr(values_[i].ptr()));
  }
}

void WriterCore::Append(nb::handle data, bool partial) {
  Flatten(data);
  if (step_is_open_) CheckOpenStep();
  if (native_ != nullptr) {
    AppendNative(partial);
  } else {
    AppendForeign(partial);
  }
  step_is_open_ = partial;
  std::fill(values_.begin(), values_.end(), nb::object());
}

void WriterCore::SetViews() {
  views_.Clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    if (IsAbsent(values_[i])) {
      views_.AddAbsent();
    } else {
      views_.Add(values_[i].ptr(), [&] { return history(i).path(); });
    }
  }
  refs_.assign(values_.size(), StepRef());
}

void WriterCore::AppendNative(bool partial) {
  SetViews();
  Status status = AppendViews(*native_->handle(), views_, partial, refs_.data());
  views_.Clear();
  ThrowIfError(status);
  for (size_t i = 0; i < refs_.size(); ++i) {
    if (refs_[i].column < 0) {
      if (!step_is_open_) history(i).AppendReference(nb::none());
    } else if (step_is_open_) {
      history(i).SetLastRow(native_->handle(), refs_[i]);
    } else {
      history(i).AppendRow(native_->handle(), refs_[i]);
    }
  }
}

NativeWriter& WriterCore::Native() const {
  if (native_ != nullptr) return *native_;
  ThrowPython(PyExc_TypeError, "Only the native writer takes many steps in one call.");
}

int64_t WriterCore::BatchSteps() const {
  for (int32_t i = 0; i < views_.size(); ++i) {
    if (views_.data()[i].rank > 0) return views_.data()[i].dims[0];
  }
  return 0;  // which the writer refuses
}

void WriterCore::AddToHistories(int64_t steps) {
  for (size_t i = 0; i < refs_.size(); ++i) {
    history(i).AppendRows(native_->handle(), refs_[i], steps);
  }
}

void WriterCore::AppendSequence(nb::handle data) {
  NativeWriter& native = Native();
  Flatten(data);
  SetViews();
  int64_t steps = BatchSteps();
  Status status = AppendSequenceOfViews(*native.handle(), views_, refs_.data());
  views_.Clear();
  std::fill(values_.begin(), values_.end(), nb::object());
  ThrowIfError(status);
  AddToHistories(steps);
}

const std::vector<int>& WriterCore::FlatOrder() {
  if (order_version_ != schema_.version()) {
    flat_order_ = schema_.FlatOrder();
    order_version_ = schema_.version();
  }
  return flat_order_;
}

nb::list WriterCore::AppendBatch(nb::handle data, nb::handle table, nb::handle priorities,
                                 nb::handle timeout) {
  NativeWriter& native = Native();
  Duration limit = TimeoutFromSeconds(timeout);
  BatchItems items;
  items.table = TextArgument(table, "table");
  Flatten(data);
  SetViews();
  int64_t steps = BatchSteps();
  items.priorities = PriorityArguments(priorities, steps);
  for (int column : FlatOrder()) {
    if (!IsAbsent(values_[static_cast<size_t>(column)])) items.columns.push_back(column);
  }
  WriterHandle::Use writer(*native.handle());
  Result<std::vector<uint64_t>> keys = RunBlocking(limit, [&](const WaitOptions& wait) {
    return writer->AppendBatch(views_.data(), views_.size(), items, refs_.data(), wait);
  });
  views_.Clear();
  std::fill(values_.begin(), values_.end(), nb::object());
  ThrowIfError(keys.status());
  AddToHistories(steps);
  nb::list list;
  for (uint64_t key : *keys) list.append(nb::int_(key));
  return list;
}

void WriterCore::AppendForeign(bool partial) {
  nb::list values;
  for (const nb::object& value : values_) values.append(value.is_valid() ? value : nb::none());
  nb::object references = internal_.attr(partial ? "AppendPartial" : "Append")(values);
  size_t i = 0;
  for (nb::handle reference : references) {
    if (i >= histories_.size()) break;
    if (!step_is_open_) {
      history(i).AppendReference(reference);
    } else if (!reference.is_none()) {
      history(i).SetLastReference(reference);
    }
    ++i;
  }
}

nb::object WriterCore::HistoryNest() {
  if (schema_.empty()) {
    ThrowPython(PyExc_RuntimeError, "There is no history before the first append.");
  }
  if (nest_version_ != schema_.version()) {
    nest_ = Unflatten(schema_.root(),
                      [this](int column) { return histories_[static_cast<size_t>(column)]; });
    nest_version_ = schema_.version();
  }
  return nest_;
}

nb::object WriterCore::CreateItem(nb::handle table, nb::handle priority, nb::handle trajectory,
                                  nb::handle timeout) {
  std::vector<const Column*> columns;
  std::vector<nb::object> keep;
  VisitLeaves(trajectory.ptr(), [&](PyObject* leaf) {
    if (!nb::isinstance<Column>(leaf)) {
      ThrowPython(PyExc_TypeError,
                  "All leaves of a trajectory must be TrajectoryColumns (slices of history), got " +
                      ShortRepr(leaf) + " (" + TypeName(leaf) + ").");
    }
    keep.push_back(nb::borrow(leaf));
    columns.push_back(nb::inst_ptr<Column>(leaf));
  });
  if (native_ != nullptr) {
    uint64_t key =
        native_->CreateItemOfColumns(TextArgument(table, "table"), PriorityArgument(priority),
                                     columns, TimeoutFromSeconds(timeout));
    return nb::int_(key);
  }
  nb::list references, squeezed;
  for (const Column* column : columns) {
    references.append(column->References());
    squeezed.append(column->squeeze());
  }
  return internal_.attr("CreateItem")(table, priority, references, squeezed);
}

void WriterCore::EpisodeEnded(bool clear) {
  step_is_open_ = false;
  if (!clear) return;
  for (size_t i = 0; i < histories_.size(); ++i) history(i).Reset();
}

void WriterCore::Configure(nb::handle path, nb::handle options) {
  for (size_t i = 0; i < histories_.size(); ++i) {
    if (!history(i).path().equal(path)) continue;
    internal_.attr("ConfigureChunker")(i, options);
    history(i).SetCapacity(nb::cast<int64_t>(options.attr("num_keep_alive_refs")));
    return;
  }
  pending_options_[path] = options;
}

nb::list WriterCore::Paths() const {
  nb::list paths;
  for (size_t i = 0; i < histories_.size(); ++i) paths.append(history(i).path());
  return paths;
}

void DefineWriterCore(nb::module_& m) {
  nb::class_<WriterCore>(m, "WriterCore",
                         "Columns, histories and items of a reverb_tf.TrajectoryWriter.")
      .def(nb::init<nb::object>(), nb::arg("internal_writer"))
      .def("append", &WriterCore::Append, nb::arg("data").none(), nb::arg("partial_step"))
      .def("append_sequence", &WriterCore::AppendSequence, nb::arg("data").none())
      .def("append_batch", &WriterCore::AppendBatch, nb::arg("data").none(), nb::arg("table"),
           nb::arg("priorities"), nb::arg("timeout").none())
      .def("history", &WriterCore::HistoryNest)
      .def("create_item", &WriterCore::CreateItem, nb::arg("table"), nb::arg("priority"),
           nb::arg("trajectory").none(), nb::arg("timeout").none())
      .def("episode_ended", &WriterCore::EpisodeEnded, nb::arg("clear"))
      .def("configure", &WriterCore::Configure, nb::arg("path"), nb::arg("options"))
      .def("paths", &WriterCore::Paths);
}

}  // namespace reverb_tf::python

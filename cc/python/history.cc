#include "cc/python/history.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cc/python/errors.h"
#include "cc/python/nest.h"

namespace reverb_tf::python {

History::History(nb::object path, int64_t capacity, int64_t padding)
    : path_(std::move(path)), capacity_(capacity) {
  if (capacity < 1 || padding < 0) {
    ThrowPython(PyExc_ValueError,
                "A history needs buffer_size >= 1 and history_padding >= 0, got " +
                    std::to_string(capacity) + " and " + std::to_string(padding) + ".");
  }
  entries_.resize(static_cast<size_t>(std::min(capacity, padding)));
  size_ = padding;
}

void History::Trim() {
  if (entries_.size() - begin_ <= static_cast<size_t>(capacity_)) return;
  begin_ = entries_.size() - static_cast<size_t>(capacity_);
  if (begin_ < 64 || begin_ < static_cast<size_t>(capacity_)) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
}

void History::Push(Entry entry) {
  entries_.push_back(std::move(entry));
  ++size_;
  if (entries_.size() - begin_ > static_cast<size_t>(capacity_)) {
    entries_[begin_].reference.reset();
    Trim();
  }
}

void History::AppendRow(const std::shared_ptr<WriterHandle>& writer, const StepRef& ref) {
  if (writer_ != writer) writer_ = writer;
  column_ = ref.column;
  Entry entry;
  entry.row = ref.row;
  Push(std::move(entry));
}

void History::AppendRows(const std::shared_ptr<WriterHandle>& writer, const StepRef& first,
                         int64_t count) {
  if (first.column >= 0) {
    writer_ = writer;
    column_ = first.column;
  }
  const int64_t dropped = std::max<int64_t>(count - capacity_, 0);
  if (dropped > 0) {
    entries_.clear();
    begin_ = 0;
    size_ += dropped;
  }
  for (int64_t i = dropped; i < count; ++i) {
    Entry entry;
    if (first.column >= 0) entry.row = first.row + i;
    Push(std::move(entry));
  }
}

History::Entry History::MakeEntry(nb::handle reference) {
  Entry entry;
  if (reference.is_none()) return entry;
  if (writer_ != nullptr) {
    ThrowPython(PyExc_RuntimeError, "Only the writer adds to the history of its column " +
                                        ShortRepr(path_.ptr()) + ".");
  }
  entry.reference = nb::borrow(reference);
  return entry;
}

void History::AppendReference(nb::handle reference) { Push(MakeEntry(reference)); }

void History::SetLastRow(const std::shared_ptr<WriterHandle>& writer, const StepRef& ref) {
  if (writer_ != writer) writer_ = writer;
  column_ = ref.column;
  entries_.back().row = ref.row;
}

void History::SetLastReference(nb::handle reference) {
  if (!CanSetLast()) {
    ThrowPython(PyExc_RuntimeError, "The newest step of " + ShortRepr(path_.ptr()) +
                                        " does not exist or is already set.");
  }
  entries_.back() = MakeEntry(reference);
}

void History::Reset() {
  entries_.clear();
  begin_ = 0;
  size_ = 0;
}

void History::SetCapacity(int64_t capacity) {
  capacity_ = capacity;
  Trim();
}

const History::Entry* History::Find(int64_t position) const {
  int64_t index = position - size_ + static_cast<int64_t>(entries_.size());
  if (index < static_cast<int64_t>(begin_)) return nullptr;
  const Entry& entry = entries_[static_cast<size_t>(index)];
  return entry.absent() ? nullptr : &entry;
}

void History::RefuseAbsent(int64_t position) const {
  int64_t kept = static_cast<int64_t>(entries_.size() - begin_);
  bool dropped = position < size_ - kept;
  std::string why = dropped ? " is older than the " + std::to_string(capacity_) +
                                  " steps that are kept (num_keep_alive_refs)"
                            : " was not set";
  ThrowPython(PyExc_ValueError,
              "A TrajectoryColumn cannot contain any None data references, but step " +
                  std::to_string(position) + " of column " + ShortRepr(path_.ptr()) + why + ".");
}

void History::AddTo(Column* column, int64_t position) const {
  const Entry* entry = Find(position);
  if (entry == nullptr) RefuseAbsent(position);
  if (entry->row >= 0) {
    column->AddRow(writer_, column_, entry->row);
  } else {
    column->AddReference(entry->reference);
  }
}

Column History::Select(nb::handle index) const {
  Column column(path_);
  bool squeeze = false;
  ForEachIndex(index, size_, &squeeze, [&](int64_t position) { AddTo(&column, position); });
  if (squeeze) column.set_squeeze();
  return column;
}

nb::list History::References() const {
  nb::list result;
  for (int64_t i = 0; i < size_; ++i) {
    const Entry* entry = Find(i);
    if (entry == nullptr) {
      result.append(nb::none());
    } else if (entry->row >= 0) {
      result.append(CellRef{writer_, {column_, entry->row}});
    } else {
      result.append(entry->reference);
    }
  }
  return result;
}

void DefineHistory(nb::module_& m) {
  auto type =
      nb::class_<History>(
          m, "ColumnHistory",
          "The steps of one column since the episode began; slices of it are TrajectoryColumns.")
          .def(nb::init<nb::object, int64_t, int64_t>(), nb::arg("path"), nb::arg("buffer_size"),
               nb::arg("history_padding") = 0)
          .def("append", &History::AppendReference, nb::arg("ref").none(),
               "Adds a step; None if the value is absent.")
          .def("reset", &History::Reset, "Forgets all steps.")
          .def("set_last", &History::SetLastReference, nb::arg("ref"),
               "Sets the newest step. RuntimeError if there is none or it is set.")
          .def_prop_ro("can_set_last", &History::CanSetLast,
                       "Whether the newest step exists and is not set.")
          .def_prop_ro("_path", [](const History& self) { return self.path(); })
          .def(
              "path", [](const History& self) { return self.path(); },
              "The tuple that leads to the column.")
          .def("__len__", &History::size)
          .def("__iter__", [](const History& self) { return nb::iter(self.References()); })
          .def("__getitem__", &History::Select, nb::arg("index").none(),
               "An int gives a squeezed column, a slice or a list of ints a column with a leading "
               "axis. IndexError: out of\n"
               "range. ValueError: a chosen step is absent or not kept any more.");
  RegisterLeafType(type);
}

}  // namespace reverb_tf::python

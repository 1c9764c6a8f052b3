// What was appended to one column.
#ifndef REVERB_TF_PYTHON_HISTORY_H_
#define REVERB_TF_PYTHON_HISTORY_H_

#include <memory>
#include <vector>

#include "cc/python/column.h"

namespace reverb_tf::python {

// Counts every step since the last reset, but keeps the newest `capacity` only: what is older reads
// as absent. Indexed as if nothing had been dropped; choosing an absent step is refused. Needs the
// GIL.
class History {
 public:
  // `path` is a tuple. `padding` absent steps come first. ValueError unless capacity >= 1 and
  // padding >= 0.
  History(nb::object path, int64_t capacity, int64_t padding);

  // One step: a row of `writer`.
  void AppendRow(const std::shared_ptr<WriterHandle>& writer, const StepRef& ref);
  // `count` steps: that row and those behind it, or (without a writer) none.
  void AppendRows(const std::shared_ptr<WriterHandle>& writer, const StepRef& first, int64_t count);
  // One step: any reference, or None for an absent value.
  void AppendReference(nb::handle reference);

  // True when there is a step and the newest is absent.
  bool CanSetLast() const {
    return !entries_.empty() && entries_.size() > begin_ && entries_.back().absent();
  }
  void SetLastRow(const std::shared_ptr<WriterHandle>& writer, const StepRef& ref);
  // RuntimeError unless CanSetLast().
  void SetLastReference(nb::handle reference);

  void Reset();
  void SetCapacity(int64_t capacity);

  int64_t size() const { return size_; }
  const nb::object& path() const { return path_; }

  Column Select(nb::handle index) const;

  // None for absent and dropped steps.
  nb::list References() const;

 private:
  struct Entry {
    int64_t row = -1;      // >= 0: a row of column_
    nb::object reference;  // else this, unless it is null
    bool absent() const { return row < 0 && !reference.is_valid(); }
  };

  void Push(Entry entry);
  void Trim();
  Entry MakeEntry(nb::handle reference);
  const Entry* Find(int64_t position) const;
  void AddTo(Column* column, int64_t position) const;
  [[noreturn]] void RefuseAbsent(int64_t position) const;

  nb::object path_;
  int64_t capacity_;
  int64_t size_ = 0;
  std::shared_ptr<WriterHandle> writer_;
  int32_t column_ = -1;
  // Those kept are [begin_, end). The front is cut off now and then.
  std::vector<Entry> entries_;
  size_t begin_ = 0;
};

void DefineHistory(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_HISTORY_H_

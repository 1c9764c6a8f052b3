// What reverb_tf.TrajectoryWriter does with each step.
#ifndef REVERB_TF_PYTHON_WRITER_CORE_H_
#define REVERB_TF_PYTHON_WRITER_CORE_H_

#include <vector>

#include "cc/python/append_schema.h"
#include "cc/python/array_in.h"
#include "cc/python/history.h"
#include "cc/python/native_writer.h"

namespace reverb_tf::python {

// Flattens steps into columns, keeps their histories and turns trajectories into items of the
// internal writer. That is a NativeWriter, for which no Python object is made for a step or a
// slice, or any object with the same methods. Needs the GIL; one thread at a time.
class WriterCore {
 public:
  explicit WriterCore(nb::object internal_writer);

  // ValueError: a column was set twice in an open step. Otherwise as AppendSchema::Match and the
  // internal writer's Append. On error nothing is appended, but new columns stay known.
  void Append(nb::handle data, bool partial);

  // Steps along the leading axis of every leaf; only for a NativeWriter. All or nothing.
  void AppendSequence(nb::handle data);
  // The same with an item of each step; `priorities` is a number or one for each step. Returns the
  // keys.
  nb::list AppendBatch(nb::handle data, nb::handle table, nb::handle priorities,
                       nb::handle timeout);

  // The nest of histories. RuntimeError before the first append.
  nb::object HistoryNest();

  // TypeError unless every leaf of `trajectory` is a Column. Returns what the internal writer does:
  // the key.
  nb::object CreateItem(nb::handle table, nb::handle priority, nb::handle trajectory,
                        nb::handle timeout);

  // After the internal writer's EndEpisode: closes an open step and, with `clear`, empties the
  // histories.
  void EpisodeEnded(bool clear);

  // Chunking of the column at `path` (a tuple), now or when it first appears.
  void Configure(nb::handle path, nb::handle options);

  // The paths of the columns, as tuples.
  nb::list Paths() const;

 private:
  void Flatten(nb::handle data);
  void AddColumn(int column, const std::vector<nb::object>& path);
  void CheckOpenStep() const;
  void SetViews();
  NativeWriter& Native() const;
  int64_t BatchSteps() const;
  const std::vector<int>& FlatOrder();
  void AddToHistories(int64_t steps);
  void AppendNative(bool partial);
  void AppendForeign(bool partial);
  History& history(size_t column) const;

  nb::object internal_;
  NativeWriter* native_ = nullptr;  // of internal_, or null
  int64_t default_keep_ = 0;        // of native_: refs of columns that are not configured
  AppendSchema schema_;
  std::vector<nb::object> histories_;
  nb::dict pending_options_;  // path -> options of columns that were not seen yet
  nb::object nest_;           // of histories, for version nest_version_ of the schema
  int nest_version_ = -1;
  std::vector<int> flat_order_;  // of columns, for version order_version_
  int order_version_ = -1;
  bool step_is_open_ = false;

  // Of the step being appended; null or None: absent.
  std::vector<nb::object> values_;
  ArrayViews views_;
  std::vector<StepRef> refs_;
};

void DefineWriterCore(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_WRITER_CORE_H_

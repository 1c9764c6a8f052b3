// The structured writer as the Python class sees it.
#ifndef REVERB_TF_PYTHON_STRUCTURED_WRITER_H_
#define REVERB_TF_PYTHON_STRUCTURED_WRITER_H_

#include <memory>
#include <vector>

#include "cc/python/append_schema.h"
#include "cc/python/array_in.h"
#include "reverb_tf/structured_writer.h"

namespace reverb_tf::python {

// reverb_tf::StructuredWriter with steps as nests. Needs the GIL, which is released while it may
// block. FailedPreconditionError when another thread is inside a call.
class NativeStructuredWriter {
 public:
  explicit NativeStructuredWriter(std::unique_ptr<reverb_tf::StructuredWriter> writer)
      : writer_(std::move(writer)) {}
  ~NativeStructuredWriter();
  NativeStructuredWriter(const NativeStructuredWriter&) = delete;
  NativeStructuredWriter& operator=(const NativeStructuredWriter&) = delete;

  // ValueError unless the paths of the leaves are those of the first step.
  void AppendNest(nb::handle data, bool partial, nb::handle timeout);
  // The leaves; None: absent.
  void AppendList(const nb::list& values, bool partial);

  void Flush(int64_t max_pending, Duration timeout);
  void EndEpisode(bool clear_buffers, Duration timeout);
  bool step_is_open() const { return writer_->step_is_open(); }

  // The paths of the leaves of the first step, as tuples.
  nb::list Paths() const;

 private:
  class Use;

  void Flatten(nb::handle data);
  bool FlattenKnown(nb::handle data);
  void FlattenOther(nb::handle data);
  void AppendValues(bool partial, Duration timeout);

  std::unique_ptr<reverb_tf::StructuredWriter> writer_;
  bool busy_ = false;  // guarded by the GIL

  AppendSchema schema_;  // of the first nest
  std::vector<nb::object> paths_;
  bool has_step_ = false;  // a nest was appended: the schema stays

  // Of the step being appended.
  std::vector<nb::object> values_;
  ArrayViews views_;
};

void DefineStructuredWriter(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_STRUCTURED_WRITER_H_

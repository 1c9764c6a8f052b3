// The trajectory writer as the Python classes see it.
#ifndef REVERB_TF_PYTHON_NATIVE_WRITER_H_
#define REVERB_TF_PYTHON_NATIVE_WRITER_H_

#include <memory>
#include <string>
#include <vector>

#include "cc/python/cell_ref.h"
#include "cc/python/column.h"
#include "cc/python/writer_handle.h"

namespace reverb_tf::python {

// reverb_tf::TrajectoryWriter with the method names that TrajectoryWriter (Python) expects of any
// implementation, and a few of its own for what those cannot express.
class NativeWriter {
 public:
  explicit NativeWriter(std::unique_ptr<reverb_tf::TrajectoryWriter> writer)
      : handle_(std::make_shared<WriterHandle>(std::move(writer))) {}

  const std::shared_ptr<WriterHandle>& handle() const { return handle_; }

  // A reference, or None, for each of `values` (None: absent).
  nb::list Append(nb::list values, bool partial);

  // `columns` holds a list of CellRefs for each column. Returns the key.
  uint64_t CreateItem(const std::string& table, double priority, nb::list columns,
                      nb::list squeezed);
  uint64_t CreateItemOfColumns(const std::string& table, double priority,
                               const std::vector<const Column*>& columns, Duration timeout);

  void Flush(int64_t max_pending, Duration timeout);
  void EndEpisode(bool clear_buffers, Duration timeout);
  void Close() { handle_->Close(); }

  // `options` has num_keep_alive_refs and may have max_chunk_length.
  void ConfigureChunker(int32_t column, nb::handle options);

  int32_t max_num_keep_alive_refs() const;
  int64_t episode_steps() const;

 private:
  std::shared_ptr<WriterHandle> handle_;
};

// Reads num_keep_alive_refs and max_chunk_length (missing: found automatically) of `options`.
ChunkerOptions ChunkerOptionsOf(nb::handle options);

// Appends `views`; the GIL is released when they are large.
Status AppendViews(WriterHandle& handle, const class ArrayViews& views, bool partial,
                   StepRef* refs);

// The same for a sequence of steps.
Status AppendSequenceOfViews(WriterHandle& handle, const class ArrayViews& views, StepRef* refs);

void DefineNativeWriter(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_NATIVE_WRITER_H_

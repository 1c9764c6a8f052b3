// A trajectory writer shared by the Python objects that refer to its rows.
#ifndef REVERB_TF_PYTHON_WRITER_HANDLE_H_
#define REVERB_TF_PYTHON_WRITER_HANDLE_H_

#include <memory>
#include <utility>

#include "cc/python/gil.h"
#include "cc/python/process.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::python {

// Marks a writer as used for as long as it lives. FailedPreconditionError when another thread is
// inside a call: a writer is for one thread at a time. Needs the GIL.
class WriterUse {
 public:
  explicit WriterUse(bool* busy);
  ~WriterUse() { *busy_ = false; }
  WriterUse(const WriterUse&) = delete;
  WriterUse& operator=(const WriterUse&) = delete;

 private:
  bool* const busy_;
};

// Columns, histories and references hold one each; the writer goes with the last of them. All
// methods need the GIL.
class WriterHandle {
 public:
  explicit WriterHandle(std::unique_ptr<reverb_tf::TrajectoryWriter> writer)
      : writer_(std::move(writer)) {}
  ~WriterHandle();
  WriterHandle(const WriterHandle&) = delete;
  WriterHandle& operator=(const WriterHandle&) = delete;

  // The writer, used as WriterUse says.
  class Use {
   public:
    explicit Use(WriterHandle& handle) : use_(&handle.busy_), writer_(handle.writer_.get()) {}
    reverb_tf::TrajectoryWriter* operator->() const { return writer_; }
    reverb_tf::TrajectoryWriter* get() const { return writer_; }

   private:
    WriterUse use_;
    reverb_tf::TrajectoryWriter* const writer_;
  };

  // May be called at any time.
  void Close();

  // Runs `read(writer)`; without the GIL if another thread is inside a call, as that one may wait
  // for the GIL while it holds what `read` needs.
  template <typename Read>
  auto Inspect(Read&& read) {
    CheckProcess();
    if (!busy_) return read(*writer_);
    GilRelease release;
    return read(*writer_);
  }

 private:
  std::unique_ptr<reverb_tf::TrajectoryWriter> writer_;
  bool busy_ = false;  // guarded by the GIL
};

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_WRITER_HANDLE_H_

// A trajectory writer shared by the Python objects that refer to its rows.
#ifndef REVERB_TF_PYTHON_WRITER_HANDLE_H_
#define REVERB_TF_PYTHON_WRITER_HANDLE_H_

#include <memory>
#include <utility>

#include "cc/python/gil.h"
#include "cc/python/process.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::python {

// Columns, histories and references hold one each; the writer goes with the last of them. All
// methods need the GIL.
class WriterHandle {
 public:
  explicit WriterHandle(std::unique_ptr<reverb_tf::TrajectoryWriter> writer)
      : writer_(std::move(writer)) {}
  ~WriterHandle();
  WriterHandle(const WriterHandle&) = delete;
  WriterHandle& operator=(const WriterHandle&) = delete;

  // Marks the writer as used for as long as the object lives. FailedPreconditionError when another
  // thread is inside a call: a writer is for one thread at a time.
  class Use {
   public:
    explicit Use(WriterHandle& handle);
    ~Use() { handle_.busy_ = false; }
    reverb_tf::TrajectoryWriter* operator->() const { return handle_.writer_.get(); }

   private:
    WriterHandle& handle_;
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

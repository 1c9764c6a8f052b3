#include "cc/python/writer_handle.h"

#include "cc/python/errors.h"

namespace reverb_tf::python {

WriterHandle::~WriterHandle() {
  if (ForkedAfterUse()) {
    writer_.release();  // NOLINT: leaked on purpose, see process.h
    return;
  }
  GilRelease release;
  writer_.reset();
}

WriterHandle::Use::Use(WriterHandle& handle) : handle_(handle) {
  CheckProcess();
  if (handle.busy_) {
    ThrowStatus(
        FailedPreconditionError("Another thread is inside a call of this writer; a writer may be "
                                "used by one thread at a time (only close() may "
                                "be called at any time)."));
  }
  handle.busy_ = true;
}

void WriterHandle::Close() {
  if (ForkedAfterUse()) return;
  GilRelease release;
  writer_->Close();
}

}  // namespace reverb_tf::python

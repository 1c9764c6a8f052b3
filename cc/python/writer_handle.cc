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

WriterUse::WriterUse(bool* busy) : busy_(busy) {
  CheckProcess();
  if (*busy) {
    ThrowStatus(
        FailedPreconditionError("Another thread is inside a call of this writer; a writer may be "
                                "used by one thread at a time (only close() may "
                                "be called at any time)."));
  }
  *busy = true;
}

void WriterHandle::Close() {
  if (ForkedAfterUse()) return;
  GilRelease release;
  writer_->Close();
}

}  // namespace reverb_tf::python

// The native part of reverb_tf.Writer.
#ifndef REVERB_TF_PYTHON_WRITER_H_
#define REVERB_TF_PYTHON_WRITER_H_

#include <memory>
#include <string>

#include "cc/python/array_in.h"
#include "cc/python/numpy_api.h"
#include "reverb_tf/wait.h"
#include "reverb_tf/writer.h"

namespace reverb_tf::python {

// A nest of arrays is flattened into the arrays of a step. Timeouts are in seconds, None for no
// limit. All methods need the GIL and release it while they wait.
class NativeStepWriter {
 public:
  NativeStepWriter(std::unique_ptr<reverb_tf::Writer> writer, const WriterOptions& options)
      : writer_(std::move(writer)), options_(options) {}
  NativeStepWriter(NativeStepWriter&&) noexcept = default;
  ~NativeStepWriter();

  void Append(nb::handle nest, nb::handle timeout);
  void AppendSequence(nb::handle nest, nb::handle timeout);
  uint64_t CreateItem(nb::handle table, int64_t num_timesteps, nb::handle priority,
                      nb::handle timeout);
  void Flush(nb::handle timeout);
  void Close(bool retry_on_unavailable, nb::handle timeout);

  std::string Repr() const;

 private:
  std::unique_ptr<reverb_tf::Writer> writer_;
  WriterOptions options_;
  std::unique_ptr<ArrayViews> views_ = std::make_unique<ArrayViews>();  // of the step
  bool busy_ = false;
};

void DefineStepWriter(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_WRITER_H_

// Decoding that does not hold up who brings samples.
#ifndef REVERB_TF_OPS_DECODE_WORK_H_
#define REVERB_TF_OPS_DECODE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace reverb_tf::ops {

// Calls part(0) to part(n - 1), then `done` with the first error by number: all at once, or, if
// they write so many `bytes` that it takes long, on the threads that TensorFlow's ops compute on,
// and returns before. For callbacks of samplers, whose thread has other samples to bring. `done`
// must keep the context (and its device) alive until it is called; both functions keep alive what
// they use.
void RunDecode(tensorflow::OpKernelContext* ctx, size_t bytes, int64_t n,
               std::function<absl::Status(int64_t)> part, std::function<void(absl::Status)> done);

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_DECODE_WORK_H_

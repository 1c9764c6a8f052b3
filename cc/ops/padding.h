// A smaller array inside a larger one. Free of TensorFlow types.
#ifndef REVERB_TF_OPS_PADDING_H_
#define REVERB_TF_OPS_PADDING_H_

#include <cstdint>
#include <vector>

namespace reverb_tf::ops {

using Dims = std::vector<int64_t>;

// Calls run(from, to, n) for each run of n elements that lie together in an array of shape `small`
// and, at its place, in one of shape `large`, which has the same rank and no smaller axis. `from`
// and `to` are positions in row-major order.
template <typename Run>
void ForEachRun(const Dims& small, const Dims& large, Run run) {
  int axis = static_cast<int>(small.size());  // the first of the axes that lie together
  int64_t n = 1;
  int64_t large_n = 1;
  while (axis > 0 && n == large_n) {
    --axis;
    n *= small[axis];
    large_n *= large[axis];
  }
  int64_t runs = 1;
  for (int i = 0; i < axis; ++i) runs *= small[i];
  if (n == 0) return;
  std::vector<int64_t> index(axis, 0);
  for (int64_t k = 0; k < runs; ++k) {
    int64_t to = 0;
    for (int i = 0; i < axis; ++i) to = to * large[i] + index[i];
    run(k * n, to * large_n, n);
    for (int i = axis - 1; i >= 0 && ++index[i] == small[i]; --i) index[i] = 0;
  }
}

}  // namespace reverb_tf::ops

#endif  // REVERB_TF_OPS_PADDING_H_

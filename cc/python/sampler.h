// Samples as Python objects.
#ifndef REVERB_TF_PYTHON_SAMPLER_H_
#define REVERB_TF_PYTHON_SAMPLER_H_

#include <memory>
#include <vector>

#include "cc/python/gil.h"
#include "cc/python/nest.h"
#include "cc/python/numpy_api.h"
#include "reverb_tf/sampler.h"

namespace reverb_tf::python {

// Thread-safe (under the GIL).
class NativeSampler {
 public:
  explicit NativeSampler(std::unique_ptr<Sampler> sampler) : sampler_(std::move(sampler)) {}
  ~NativeSampler();
  NativeSampler(NativeSampler&& other) noexcept = default;

  // The next item as one ReplaySample, or, with `timesteps`, as a list of one for each step.
  // `structure` (a Structure or None) shapes the data; else it is a list of columns.
  nb::object Next(Duration timeout, bool timesteps, nb::handle structure);

  // [key, probability, table_size, priority, times_sampled, column, ...], all of them arrays.
  nb::list NextTrajectory(Duration timeout);

  // Waiting and later calls get CancelledError.
  void Close();

 private:
  Sample Wait(Duration timeout);

  std::shared_ptr<Sampler> sampler_;
};

void DefineSampler(nb::module_& m);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_SAMPLER_H_

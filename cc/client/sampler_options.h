// What the options of a sampler amount to.
#ifndef REVERB_TF_CLIENT_SAMPLER_OPTIONS_H_
#define REVERB_TF_CLIENT_SAMPLER_OPTIONS_H_

#include <cstdint>

#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// INVALID_ARGUMENT names the option, the value and what was expected. The functions below want
// options that pass.
Status CheckSamplerOptions(const SamplerOptions& options);

// Streams; not more than can have a whole batch each.
int64_t NumWorkers(const SamplerOptions& options);

// Samples that may be requested or buffered at a time, by all workers.
int64_t Capacity(const SamplerOptions& options);

// Samples after which a stream is replaced.
int64_t StreamSamples(const SamplerOptions& options);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_SAMPLER_OPTIONS_H_

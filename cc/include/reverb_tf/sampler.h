// A stream of samples from one table.
#ifndef REVERB_TF_SAMPLER_H_
#define REVERB_TF_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reverb_tf/export.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/wait.h"

namespace reverb_tf {

struct SamplerOptions {
  std::string table;
  int64_t max_samples =
      -1;  // ends with OUT_OF_RANGE after so many; -1: no end; exactly so many are taken
  int64_t max_in_flight_samples_per_worker = 100;  // >= 1: requested or buffered, not yet returned
  int64_t num_workers = -1;                        // streams; -1: 1
  int64_t max_samples_per_stream = -1;             // a stream is replaced after so many; -1: 10000
  // True: samples are requested only while Next calls wait, one for each that waits. Nothing is
  // taken from the table ahead of its caller (the in-flight option is then only an upper bound),
  // and no server is contacted before.
  bool on_demand = false;
  // False: a worker asks for a whole in-flight depth at a time, once it has room for it, so that a
  // table has given multiples of it. True: as soon as half of it is free, so that the server works
  // while the other half is consumed.
  bool request_ahead = false;
  // True: an array of one row and 128 KiB or more that is not compressed is copied as it arrives,
  // while more is on its way, so that Sample::ShareColumn gives it: for those who keep arrays.
  // False: it is copied when it is read, which is one copy less for those who gather rows.
  bool align_arrays = false;
  // How long one request may wait in the table for the rate limiter. 0: not at all (on every path).
  Duration rate_limiter_timeout = kInfiniteDuration;

  // For tables of one item, whose version is that of the item: requests wait until the table has
  // this version or a later one, and samples say it; 0: only that. Servers that do not know
  // versions (dm-reverb) take no notice: SampleInfo::table_version tells.
  std::optional<int64_t> min_version;
  // If this is the table's version, the sampler ends as if rate_limiter_timeout had run out.
  std::optional<int64_t> unless_version;

  // What the columns must look like (checked on every sample); nullopt: not checked.
  std::optional<std::vector<TensorSpec>> expected;
  // True: items are taken apart into steps. `expected` is then what a step looks like (no leading
  // axis), and an item whose columns differ in their number of rows is INVALID_ARGUMENT.
  bool timesteps = false;
  // How `expected` came about, for the error text: a table signature or what the caller requested.
  bool expected_is_signature = true;
};

// Thread-safe: several threads may wait for samples of one sampler; each sample goes to one of
// them.
class REVERB_TF_EXPORT Sampler {
 public:
  // Ok, or the error that ended the sampler.
  using Callback = std::function<void(Result<Sample>)>;

  // Closes.
  virtual ~Sampler() = default;

  // Blocks until a sample is there. OUT_OF_RANGE: max_samples were returned. DEADLINE_EXCEEDED
  // whose message contains "Timeout exceeded before the right to insert was acquired":
  // rate_limiter_timeout ran out for all streams (samples that came before are returned first;
  // IsRateLimiterTimeout tells it from the caller's own timeout). CANCELLED: closed, interrupted or
  // the server is stopping. NOT_FOUND: no such table. UNAVAILABLE names the address when the server
  // could not be reached for the client's patience.
  virtual Result<Sample> Next(const WaitOptions& wait) = 0;

  // The same without blocking, for n samples: the callback is called n times, from any thread,
  // possibly before this returns, and by several threads at a time: samples of one call may
  // overtake each other, unless the sampler is on demand and has one worker. What an on-demand
  // sampler lacks is asked for at once.
  virtual void NextAsync(int64_t n, Callback callback) = 0;
  void NextAsync(Callback callback) { NextAsync(1, std::move(callback)); }

  // At most n of the samples that are there now, in their order; maybe none. Never blocks, asks for
  // nothing on demand and reports no error: Next and NextAsync do.
  virtual std::vector<Sample> Take(int64_t n) = 0;

  // Ends the sampler: waiting and later calls get CANCELLED. Never blocks for longer than running
  // callbacks take. Idempotent; may be called from any thread, also from a callback.
  virtual void Close() = 0;
};

// True for the status with which Next() reports that rate_limiter_timeout ran out.
REVERB_TF_EXPORT bool IsRateLimiterTimeout(const Status& status);

}  // namespace reverb_tf

#endif  // REVERB_TF_SAMPLER_H_

// A table of experience and its settings.
#ifndef REVERB_TF_TABLE_H_
#define REVERB_TF_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "reverb_tf/export.h"
#include "reverb_tf/status.h"

namespace reverb_tf {

namespace core {
class Table;
}  // namespace core

// Which item is sampled, or removed when the table is full.
struct SelectorOptions {
  enum class Kind { kFifo, kLifo, kUniform, kPrioritized, kMinHeap, kMaxHeap };
  Kind kind = Kind::kUniform;
  double priority_exponent = 1.0;  // kPrioritized only
};

// When items may be inserted and sampled. With I inserts, S samples and D deletes so far:
//   n samples are allowed if  I - D >= min_size_to_sample  and  I * samples_per_insert - S - n >=
//   min_diff n inserts are allowed if  I + n - D <= min_size_to_sample
//                         or  (I + n) * samples_per_insert - S <= max_diff
struct RateLimiterOptions {
  double samples_per_insert = 1.0;  // > 0, finite
  int64_t min_size_to_sample = 1;   // >= 1
  double min_diff = -1.7976931348623157e308;
  double max_diff = 1.7976931348623157e308;
};

struct TableOptions {
  std::string name;  // not empty
  SelectorOptions sampler;
  SelectorOptions remover;
  int64_t max_size = 0;           // >= 1 items
  int32_t max_times_sampled = 0;  // an item is deleted after so many samples; < 1: never
  RateLimiterOptions rate_limiter;
  // A serialized tensorflow.StructuredValue of TensorSpecs; nullopt: no signature. An empty string
  // is a StructuredValue too (None).
  std::optional<std::string> signature;
  // Makes the choices of uniform and prioritized selectors repeatable; nullopt: seeded by the
  // system.
  std::optional<uint64_t> seed;
};

// Thread-safe. The table lives as long as any Table handle or server that serves it. Nothing here
// blocks for longer than a short critical section.
class REVERB_TF_EXPORT Table {
 public:
  // INVALID_ARGUMENT names the option, the value given and what was expected.
  static Result<std::shared_ptr<Table>> Create(TableOptions options);

  explicit Table(std::shared_ptr<core::Table> table);
  ~Table();

  const std::string& name() const;

  // What the rate limiter would say now. INVALID_ARGUMENT unless n >= 1.
  Result<bool> CanSample(int64_t n) const;
  Result<bool> CanInsert(int64_t n) const;

  // Another rule for inserts and samples from now on; what was counted stays, and blocked calls
  // that it allows go on. INVALID_ARGUMENT names the number; CANCELLED once a server of the table
  // has stopped.
  Status SetRateLimiter(const RateLimiterOptions& options);

  // A serialized deepmind.reverb.TableInfo: settings and counters of this moment.
  std::string SerializedInfo() const;

  // One line for people: settings, sizes, and how far inserts and samples may go now.
  std::string DebugString() const;

  const std::shared_ptr<core::Table>& impl() const { return table_; }

 private:
  std::shared_ptr<core::Table> table_;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_TABLE_H_

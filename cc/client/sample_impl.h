// A sample: the item's trajectory, and the shapes of its columns.
#ifndef REVERB_TF_CLIENT_SAMPLE_IMPL_H_
#define REVERB_TF_CLIENT_SAMPLE_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cc/core/clock.h"
#include "cc/core/table.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/sample.h"
#include "reverb_tf/sampler.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"

namespace reverb_tf {

// One allocation: this, then the column views, then their dimensions. Immutable.
class Sample::Impl {
 public:
  static std::unique_ptr<Impl> Create(core::SampledItem item, core::TimePoint received_at = {});
  ~Impl() = default;
  void operator delete(void* memory) { ::operator delete(memory); }

  const SampleInfo& info() const { return info_; }
  int num_columns() const { return trajectory_->num_columns(); }
  const ColumnView& column(int i) const { return columns()[i]; }

  Status ReadRows(int i, int64_t first, int64_t count, void* out, size_t out_bytes) const;
  std::shared_ptr<const void> ShareColumn(int i) const;
  Result<std::vector<std::string_view>> ReadStrings(int i, int64_t first, int64_t count) const;

  // INVALID_ARGUMENT unless the columns are what the options expect; the text is that of the
  // dataset's contract.
  Status Check(const SamplerOptions& options) const;

 private:
  Impl(core::SampledItem item, core::TimePoint received_at);

  const ColumnView* columns() const { return reinterpret_cast<const ColumnView*>(this + 1); }
  ColumnView* columns() { return reinterpret_cast<ColumnView*>(this + 1); }

  // Calls read(chunk, tensor, first, count) for the parts of rows [first, first + count) of column
  // i, in order.
  template <typename Read>
  Status ForRows(int i, int64_t first, int64_t count, Read read) const;
  Status CheckIsMadeOfSteps(const std::string& table) const;
  Status CheckRange(int i, int64_t first, int64_t count) const;

  SampleInfo info_;
  core::TrajectoryRef trajectory_;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_CLIENT_SAMPLE_IMPL_H_

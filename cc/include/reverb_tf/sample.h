// One sampled item, not yet decoded.
#ifndef REVERB_TF_SAMPLE_H_
#define REVERB_TF_SAMPLE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "reverb_tf/dtype.h"
#include "reverb_tf/export.h"
#include "reverb_tf/status.h"

namespace reverb_tf {

// What Sample::ShareColumn gives lies at multiples of so many bytes.
inline constexpr size_t kArrayAlignment = 64;

struct SampleInfo {
  uint64_t key = 0;
  double probability = 0;  // with which the sampler picked the item
  int64_t table_size = 0;  // items, before a deletion that the sample caused
  double priority = 0;
  int32_t times_sampled = 0;  // this sample included
  bool rate_limited = false;  // the sample had to wait for the rate limiter
  // How many items the table has ever had inserted, at the moment of the sample; -1: it was not
  // asked for (see SamplerOptions), or the server does not know it.
  int64_t table_version = -1;
  // When a Sampler received it, which may be long before it handed it out.
  std::chrono::steady_clock::time_point received_at{};
};

// Shape and type of a column. Lives as long as the Sample.
struct ColumnView {
  DType dtype = DType::kInvalid;
  bool squeezed = false;  // one row, without the leading (time) axis
  int32_t rank = 0;
  const int64_t* dims = nullptr;  // leading axis = rows, unless squeezed
  int64_t num_rows = 0;           // 1 if squeezed
  size_t num_bytes = 0;           // of the whole column decoded; 0 for kString
};

// Movable, not copyable. Holds references to the (compressed) data. Const methods are thread-safe.
// The number of columns, their shapes and the ranges of every slice were checked when the sample
// was made.
class REVERB_TF_EXPORT Sample {
 public:
  class Impl;
  Sample();
  explicit Sample(std::unique_ptr<Impl> impl);
  Sample(Sample&&) noexcept;
  Sample& operator=(Sample&&) noexcept;
  ~Sample();

  const SampleInfo& info() const;
  int num_columns() const;
  ColumnView column(int i) const;

  // Decodes column i into `out`, which must hold exactly column(i).num_bytes bytes. Not for
  // kString. DATA_LOSS when the stored bytes do not decompress to what their shape says.
  Status ReadColumn(int i, void* out, size_t out_bytes) const;

  // Decodes rows [first, first + count) of column i (not for kString); `out_bytes` as for those
  // rows.
  Status ReadRows(int i, int64_t first, int64_t count, void* out, size_t out_bytes) const;

  // The memory of column i, decoded (column(i).num_bytes, never to be written to), if it lies at a
  // multiple of kArrayAlignment and came with this sample; it outlives the sample. Else null: then
  // the column can only be read. See SamplerOptions::align_arrays.
  std::shared_ptr<const void> ShareColumn(int i) const;

  // Elements [first row, first + count rows) of a kString column in row-major order. The views live
  // as long as the Sample.
  Result<std::vector<std::string_view>> ReadStrings(int i, int64_t first, int64_t count) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace reverb_tf

#endif  // REVERB_TF_SAMPLE_H_

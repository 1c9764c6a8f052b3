#include "cc/client/sample_impl.h"

#include <algorithm>
#include <utility>

#include "cc/client/signature.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf {
namespace {

const core::ChunkTensor& FirstTensor(const core::Trajectory& trajectory, int column) {
  const core::ChunkSlice& slice = trajectory.slice(trajectory.column(column).first_slice);
  return trajectory.chunk(slice.chunk)->tensor(slice.tensor);
}

ColumnView MakeView(const core::Trajectory& trajectory, int column, int64_t* dims) {
  const core::ChunkTensor& tensor = FirstTensor(trajectory, column);
  ColumnView view;
  view.dtype = tensor.dtype;
  view.squeezed = trajectory.column(column).squeeze;
  view.num_rows = trajectory.num_rows(column);
  view.dims = dims;
  int64_t elements = view.num_rows;
  if (!view.squeezed) dims[view.rank++] = view.num_rows;
  for (int i = 1; i < tensor.rank; ++i) {
    dims[view.rank++] = tensor.dims[i];
    elements *= tensor.dims[i];
  }
  view.num_bytes = static_cast<size_t>(elements) * DTypeSize(view.dtype);
  return view;
}

}  // namespace

std::unique_ptr<Sample::Impl> Sample::Impl::Create(core::SampledItem item,
                                                   core::TimePoint received_at) {
  const core::Trajectory& trajectory = *item.trajectory;
  size_t dims = 0;
  for (int i = 0; i < trajectory.num_columns(); ++i) dims += FirstTensor(trajectory, i).rank;
  void* const memory = ::operator new(sizeof(Impl) + trajectory.num_columns() * sizeof(ColumnView) +
                                      dims * sizeof(int64_t));
  return std::unique_ptr<Impl>(new (memory) Impl(std::move(item), received_at));
}

Sample::Impl::Impl(core::SampledItem item, core::TimePoint received_at)
    : trajectory_(std::move(item.trajectory)) {
  static_assert(sizeof(Impl) % alignof(ColumnView) == 0);
  static_assert(alignof(ColumnView) >= alignof(int64_t));
  info_.key = item.key;
  info_.probability = item.probability;
  info_.table_size = item.table_size;
  info_.priority = item.priority;
  info_.times_sampled = item.times_sampled;
  info_.rate_limited = item.rate_limited;
  info_.table_version = item.version;
  info_.received_at = received_at;
  const int num_columns = trajectory_->num_columns();
  int64_t* dims = reinterpret_cast<int64_t*>(columns() + num_columns);
  for (int i = 0; i < num_columns; ++i) {
    const ColumnView* const view = new (columns() + i) ColumnView(MakeView(*trajectory_, i, dims));
    dims += view->rank;
  }
}

template <typename Read>
Status Sample::Impl::ForRows(int i, int64_t first, int64_t count, Read read) const {
  const core::Column& column = trajectory_->column(i);
  for (uint32_t s = column.first_slice; count > 0 && s < column.first_slice + column.num_slices;
       ++s) {
    const core::ChunkSlice& slice = trajectory_->slice(s);
    if (first >= slice.length) {
      first -= slice.length;
      continue;
    }
    const int64_t rows = std::min<int64_t>(count, slice.length - first);
    REVERB_TF_RETURN_IF_ERROR(
        read(*trajectory_->chunk(slice.chunk), slice.tensor, slice.offset + first, rows));
    first = 0;
    count -= rows;
  }
  return OkStatus();
}

Status Sample::Impl::CheckRange(int i, int64_t first, int64_t count) const {
  if (i < 0 || i >= num_columns()) {
    return InvalidArgumentError("Column " + std::to_string(i) + " of a sample with " +
                                std::to_string(num_columns()) + " columns.");
  }
  const int64_t rows = column(i).num_rows;
  if (first < 0 || count < 0 || first > rows || count > rows - first) {
    return InvalidArgumentError("Rows [" + std::to_string(first) + ", " + std::to_string(first) +
                                " + " + std::to_string(count) + ") of column " + std::to_string(i) +
                                ", which has " + std::to_string(rows) + " rows.");
  }
  return OkStatus();
}

Status Sample::Impl::ReadRows(int i, int64_t first, int64_t count, void* out,
                              size_t out_bytes) const {
  REVERB_TF_RETURN_IF_ERROR(CheckRange(i, first, count));
  const ColumnView& view = column(i);
  if (view.dtype == DType::kString) {
    return InvalidArgumentError("Column " + std::to_string(i) + " holds strings: use ReadStrings.");
  }
  const size_t row_bytes = wire::RowBytes(FirstTensor(*trajectory_, i));
  if (out_bytes != row_bytes * static_cast<size_t>(count)) {
    return InvalidArgumentError("A buffer of " + std::to_string(out_bytes) + " bytes for " +
                                std::to_string(count) + " rows of " + std::to_string(row_bytes) +
                                " bytes of column " + std::to_string(i) + ".");
  }
  char* target = static_cast<char*>(out);
  return ForRows(i, first, count,
                 [&](const core::Chunk& chunk, int tensor, int64_t begin, int64_t rows) {
                   char* const here = std::exchange(target, target + rows * row_bytes);
                   return wire::DecodeRows(chunk, tensor, begin, rows, here);
                 });
}

std::shared_ptr<const void> Sample::Impl::ShareColumn(int i) const {
  const core::Column& column = trajectory_->column(i);
  if (column.num_slices != 1) return nullptr;
  const core::ChunkRef& chunk = trajectory_->chunk(trajectory_->slice(column.first_slice).chunk);
  const void* const array = wire::ArrayInPlace(*chunk);
  if (array == nullptr || reinterpret_cast<uintptr_t>(array) % kArrayAlignment != 0) return nullptr;
  return std::shared_ptr<const void>(std::make_shared<core::ChunkRef>(chunk), array);
}

Result<std::vector<std::string_view>> Sample::Impl::ReadStrings(int i, int64_t first,
                                                                int64_t count) const {
  REVERB_TF_RETURN_IF_ERROR(CheckRange(i, first, count));
  if (column(i).dtype != DType::kString) {
    return InvalidArgumentError("Column " + std::to_string(i) + " does not hold strings but " +
                                DTypeName(column(i).dtype) + ".");
  }
  std::vector<std::string_view> strings;
  REVERB_TF_RETURN_IF_ERROR(ForRows(
      i, first, count, [&](const core::Chunk& chunk, int tensor, int64_t begin, int64_t rows) {
        return wire::DecodeStrings(chunk, tensor, begin, rows, &strings);
      }));
  return strings;
}

Status Sample::Impl::CheckIsMadeOfSteps(const std::string& table) const {
  for (int i = 1; i < num_columns(); ++i) {
    if (column(i).num_rows == column(0).num_rows) continue;
    return InvalidArgumentError(
        "An item of table '" + table + "' cannot be decomposed into timesteps: column 0 has " +
        std::to_string(column(0).num_rows) + " steps, column " + std::to_string(i) + " has " +
        std::to_string(column(i).num_rows) + ".");
  }
  return OkStatus();
}

Status Sample::Impl::Check(const SamplerOptions& options) const {
  if (options.timesteps) REVERB_TF_RETURN_IF_ERROR(CheckIsMadeOfSteps(options.table));
  if (!options.expected) return OkStatus();
  const std::vector<TensorSpec>& expected = *options.expected;
  const char* const source = options.expected_is_signature ? "table signature" : "requested types";
  if (expected.size() != static_cast<size_t>(num_columns())) {
    return InvalidArgumentError("Inconsistent number of tensors received from table '" +
                                options.table + "'.  Specification (the " + source + ") has " +
                                std::to_string(expected.size()) +
                                " tensors, but data coming from the table shows " +
                                std::to_string(num_columns()) + " tensors.");
  }
  for (int i = 0; i < num_columns(); ++i) {
    const ColumnView& view = column(i);
    const int axes = options.timesteps && !view.squeezed ? 1 : 0;  // that a step does not have
    const int64_t* const dims = view.dims + axes;
    const int32_t rank = view.rank - axes;
    if (expected[i].Accepts(view.dtype, dims, rank)) continue;
    return InvalidArgumentError(
        "Received incompatible tensor at flattened index " + std::to_string(i) + " from table '" +
        options.table +
        "'.  Specification has (dtype, shape): " + client::DTypeAndShape(expected[i]) +
        ".  Tensor has (dtype, shape): " + client::DTypeAndShape(view.dtype, dims, rank) +
        ".\nThe specification is the " + source + ".");
  }
  return OkStatus();
}

Sample::Sample() = default;
Sample::Sample(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sample::Sample(Sample&&) noexcept = default;
Sample& Sample::operator=(Sample&&) noexcept = default;
Sample::~Sample() = default;

const SampleInfo& Sample::info() const { return impl_->info(); }
int Sample::num_columns() const { return impl_->num_columns(); }
ColumnView Sample::column(int i) const { return impl_->column(i); }

Status Sample::ReadColumn(int i, void* out, size_t out_bytes) const {
  return impl_->ReadRows(i, 0, impl_->column(i).num_rows, out, out_bytes);
}

Status Sample::ReadRows(int i, int64_t first, int64_t count, void* out, size_t out_bytes) const {
  return impl_->ReadRows(i, first, count, out, out_bytes);
}

std::shared_ptr<const void> Sample::ShareColumn(int i) const { return impl_->ShareColumn(i); }

Result<std::vector<std::string_view>> Sample::ReadStrings(int i, int64_t first,
                                                          int64_t count) const {
  return impl_->ReadStrings(i, first, count);
}

}  // namespace reverb_tf

#include "cc/client/step_encoder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cc/client/batch_rows.h"

namespace reverb_tf::client {
namespace {

constexpr size_t kOwnChunkBytes = size_t{256} << 10;

}  // namespace

StepEncoder::Advisors StepEncoder::TakeAdvisors(int32_t n) {
  Advisors advisors;
  {
    MutexLock lock(&mu_);
    const auto found = advisors_.find(n);
    if (found != advisors_.end()) advisors.swap(found->second);
  }
  advisors.resize(n);
  return advisors;
}

void StepEncoder::ReturnAdvisors(Advisors advisors) {
  const size_t n = advisors.size();
  MutexLock lock(&mu_);
  advisors_[n].swap(advisors);
}

Result<core::TrajectoryRef> StepEncoder::Encode(const TensorView* values, int32_t n,
                                                std::shared_ptr<const void> owner) {
  std::vector<TensorView> rows(values, values + n);
  std::vector<int64_t> dims;
  size_t total_rank = n;
  for (const TensorView& row : rows) total_rank += row.rank;
  dims.reserve(total_rank);
  for (TensorView& row : rows) {
    const size_t first = dims.size();
    dims.push_back(1);
    dims.insert(dims.end(), row.dims, row.dims + row.rank);
    row.dims = dims.data() + first;
    ++row.rank;
  }
  uint64_t episode_id = 0;
  {
    MutexLock lock(&mu_);
    episode_id = keys_.Key(next_key_++);
  }
  std::vector<core::ChunkRef> chunks;
  std::vector<core::Column> columns(n);
  std::vector<core::ChunkSlice> slices(n);
  Advisors advisors = TakeAdvisors(n);
  for (const std::vector<int32_t>& group : Group(rows)) {
    for (size_t i = 0; i < group.size(); ++i) {
      const auto column = static_cast<uint32_t>(group[i]);
      columns[column] = {column, 1, false};
      slices[column] = {static_cast<uint32_t>(chunks.size()), 0, 1, static_cast<int32_t>(i)};
    }
    REVERB_TF_ASSIGN_OR_RETURN(core::ChunkRef chunk,
                               EncodeGroup(episode_id, 1, rows, group, owner, &advisors));
    chunks.push_back(std::move(chunk));
  }
  ReturnAdvisors(std::move(advisors));
  return core::Trajectory::Create(std::move(chunks), columns, slices);
}

std::vector<std::vector<int32_t>> StepEncoder::Group(const std::vector<TensorView>& columns) {
  std::vector<std::vector<int32_t>> groups;
  size_t small = columns.size();  // the group of small columns, once there is one
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool own = columns[i].num_bytes() >= kOwnChunkBytes;
    if (own || small == columns.size()) {
      if (!own) small = groups.size();
      groups.emplace_back();
    }
    (own ? groups.back() : groups[small]).push_back(static_cast<int32_t>(i));
  }
  return groups;
}

Result<core::ChunkRef> StepEncoder::EncodeGroup(uint64_t episode_id, int32_t num_rows,
                                                const std::vector<TensorView>& columns,
                                                const std::vector<int32_t>& group,
                                                std::shared_ptr<const void> owner,
                                                Advisors* advisors) {
  core::Chunk::Header header;
  header.episode_id = episode_id;
  header.last_step = num_rows - 1;
  header.num_rows = num_rows;
  {
    MutexLock lock(&mu_);
    header.key = keys_.Key(next_key_++);
  }
  std::vector<TensorView> tensors;
  Advisors own;
  for (const int32_t column : group) {
    tensors.push_back(columns[column]);
    own.push_back((*advisors)[column]);
  }
  Result<core::ChunkRef> chunk =
      tensors.size() == 1
          ? wire::EncodeChunk(header, tensors[0], std::move(owner), own.data())
          : wire::EncodeChunk(header, tensors.data(), static_cast<int>(tensors.size()), own.data());
  for (size_t i = 0; i < group.size(); ++i) (*advisors)[group[i]] = own[i];
  return chunk;
}

Result<std::vector<core::ChunkRef>> StepEncoder::EncodeRows(const TensorView* values, int32_t n,
                                                            int64_t num_rows) {
  size_t row_bytes = 0;
  for (int32_t i = 0; i < n; ++i) row_bytes += RowBytes(values[i], num_rows);
  const auto piece = std::max<int64_t>(kBatchChunkBytes / std::max<size_t>(row_bytes, 1), 1);
  uint64_t episode_id = 0;
  {
    MutexLock lock(&mu_);
    episode_id = keys_.Key(next_key_++);
  }
  std::vector<int32_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  std::vector<TensorView> rows(values, values + n);
  std::vector<std::vector<int64_t>> dims;
  dims.reserve(n);
  for (TensorView& view : rows) {
    dims.emplace_back(view.dims, view.dims + view.rank);
    view.dims = dims.back().data();
  }
  std::vector<core::ChunkRef> chunks;
  Advisors advisors = TakeAdvisors(n);
  for (int64_t first = 0; first < num_rows; first += piece) {
    const int64_t count = std::min(piece, num_rows - first);
    for (int32_t i = 0; i < n; ++i) {
      dims[i][0] = count;
      rows[i].data = static_cast<const char*>(values[i].data) + first * StrideOf(RowOf(values[i]));
    }
    REVERB_TF_ASSIGN_OR_RETURN(
        core::ChunkRef chunk,
        EncodeGroup(episode_id, static_cast<int32_t>(count), rows, all, nullptr, &advisors));
    chunks.push_back(std::move(chunk));
  }
  ReturnAdvisors(std::move(advisors));
  return chunks;
}

Status CheckStep(const std::string& table, const TableSignature& signature,
                 const core::Trajectory& step, std::vector<bool>* squeeze) {
  if (squeeze != nullptr) squeeze->assign(step.num_columns(), false);
  std::vector<ColumnShape> columns(step.num_columns());
  for (int i = 0; i < step.num_columns(); ++i) {
    const core::ChunkSlice& slice = step.slice(step.column(i).first_slice);
    const core::ChunkTensor& tensor = step.chunk(slice.chunk)->tensor(slice.tensor);
    ColumnShape& column = columns[i];
    column.dtype = tensor.dtype;
    column.dims = tensor.dims + 1;
    column.rank = tensor.rank - 1;
    column.rows = 1;
    if (signature.has_signature && i < static_cast<int>(signature.leaves.size())) {
      // The signature's rank says whether it means a step or a sequence.
      const TensorSpec& leaf = signature.leaves[i];
      column.squeezed = !leaf.unknown_rank && leaf.AcceptsShape(column.dims, column.rank);
    }
    if (squeeze != nullptr) (*squeeze)[i] = column.squeezed;
  }
  return CheckItem(table, signature, columns);
}

Result<core::TrajectoryRef> StepOf(const core::ChunkRef& chunk, int32_t row,
                                   const std::vector<bool>& squeeze) {
  std::vector<core::Column> columns;
  std::vector<core::ChunkSlice> slices;
  columns.reserve(squeeze.size());
  slices.reserve(squeeze.size());
  for (size_t i = 0; i < squeeze.size(); ++i) {
    columns.push_back({static_cast<uint32_t>(i), 1, squeeze[i]});
    slices.push_back({0, row, 1, static_cast<int32_t>(i)});
  }
  return core::Trajectory::Create({chunk}, columns, slices);
}

}  // namespace reverb_tf::client

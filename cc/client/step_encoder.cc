#include "cc/client/step_encoder.h"

#include <utility>

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

Result<core::TrajectoryRef> StepEncoder::Encode(const TensorView* values, int32_t n) {
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
                               EncodeGroup(episode_id, rows, group, &advisors));
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

Result<core::ChunkRef> StepEncoder::EncodeGroup(uint64_t episode_id,
                                                const std::vector<TensorView>& columns,
                                                const std::vector<int32_t>& group,
                                                Advisors* advisors) {
  core::Chunk::Header header;
  header.episode_id = episode_id;
  header.num_rows = 1;
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
      wire::EncodeChunk(header, tensors.data(), static_cast<int>(tensors.size()), own.data());
  for (size_t i = 0; i < group.size(); ++i) (*advisors)[group[i]] = own[i];
  return chunk;
}

Status CheckStep(const std::string& table, const TableSignature& signature,
                 const core::Trajectory& step) {
  std::vector<ColumnShape> columns(step.num_columns());
  for (int i = 0; i < step.num_columns(); ++i) {
    const core::ChunkSlice& slice = step.slice(step.column(i).first_slice);
    const core::ChunkTensor& tensor = step.chunk(slice.chunk)->tensor(slice.tensor);
    ColumnShape& column = columns[i];
    column.dtype = tensor.dtype;
    column.dims = tensor.dims + 1;
    column.rank = tensor.rank - 1;
    column.rows = 1;
    // The signature's rank says whether it means a step or a sequence.
    column.squeezed = signature.has_signature && i < static_cast<int>(signature.leaves.size()) &&
                      signature.leaves[i].AcceptsShape(column.dims, column.rank);
  }
  return CheckItem(table, signature, columns);
}

}  // namespace reverb_tf::client

#include "cc/client/step_encoder.h"

#include <utility>

namespace reverb_tf::client {

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
  core::Chunk::Header header;
  {
    MutexLock lock(&mu_);
    header.key = keys_.Key(next_key_++);
    header.episode_id = keys_.Key(next_key_++);
  }
  header.num_rows = 1;
  Advisors advisors = TakeAdvisors(n);
  Result<core::ChunkRef> chunk = wire::EncodeChunk(header, rows.data(), n, advisors.data());
  ReturnAdvisors(std::move(advisors));
  if (!chunk.ok()) return chunk.status();
  std::vector<core::Column> columns;
  std::vector<core::ChunkSlice> slices;
  columns.reserve(n);
  slices.reserve(n);
  for (int32_t i = 0; i < n; ++i) {
    columns.push_back({static_cast<uint32_t>(i), 1, false});
    slices.push_back({0, 0, 1, i});
  }
  return core::Trajectory::Create({std::move(chunk).value()}, columns, slices);
}

Status CheckStep(const std::string& table, const TableSignature& signature,
                 const core::Trajectory& step) {
  std::vector<ColumnShape> columns(step.num_columns());
  for (int i = 0; i < step.num_columns(); ++i) {
    const core::ChunkTensor& tensor = step.chunk(0)->tensor(i);
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

// Values that were appended to the trajectory writer, read back.
#include "cc/client/trajectory_writer_impl.h"
#include "cc/wire/chunk_codec.h"

namespace reverb_tf::client {

bool TrajectoryWriterImpl::IsAlive(const StepRef& ref) const {
  if (ref.column < 0 || ref.column >= static_cast<int32_t>(columns_.size())) return false;
  const WriterColumn& rows = columns_[ref.column].rows;
  return ref.row >= rows.first_alive() && ref.row < rows.num_rows();
}

Result<WriterColumn::Place> TrajectoryWriterImpl::FindAlive(const StepRef& ref) const {
  if (!IsAlive(ref)) {
    return Status(StatusCode::kFailedPrecondition,
                  "Row " + std::to_string(ref.row) + " of column " + std::to_string(ref.column) +
                      " has expired: the writer keeps the newest rows of a column only "
                      "(num_keep_alive_refs), and none after end_episode.");
  }
  return columns_[ref.column].rows.Find(ref.row, pool_);
}

Result<RefInfo> TrajectoryWriterImpl::Describe(const StepRef& ref) const {
  REVERB_TF_RETURN_IF_ERROR(FindAlive(ref).status());
  const WriterColumn& rows = columns_[ref.column].rows;
  RefInfo info;
  info.dtype = rows.dtype();
  info.dims.assign(rows.dims(), rows.dims() + rows.rank());
  return info;
}

Status TrajectoryWriterImpl::Read(const StepRef& ref, void* out, size_t out_bytes) const {
  REVERB_TF_ASSIGN_OR_RETURN(const WriterColumn::Place place, FindAlive(ref));
  const WriterColumn& rows = columns_[ref.column].rows;
  if (rows.dtype() == DType::kString || out_bytes != rows.row_bytes()) {
    return InvalidArgumentError("A buffer of " + std::to_string(out_bytes) +
                                " bytes for a row of " + std::to_string(rows.row_bytes()) +
                                " bytes of dtype " + DTypeName(rows.dtype()) + ".");
  }
  if (place.chunk) return wire::DecodeRows(*place.chunk, place.tensor, place.offset, 1, out);
  rows.ReadOpenRow(place.offset, out);
  return OkStatus();
}

Result<std::vector<std::string>> TrajectoryWriterImpl::ReadStrings(const StepRef& ref) const {
  REVERB_TF_ASSIGN_OR_RETURN(const WriterColumn::Place place, FindAlive(ref));
  const WriterColumn& rows = columns_[ref.column].rows;
  if (rows.dtype() != DType::kString) {
    return InvalidArgumentError("Column " + std::to_string(ref.column) +
                                " does not hold strings but " + DTypeName(rows.dtype()) + ".");
  }
  if (!place.chunk) return rows.OpenRowStrings(place.offset);
  std::vector<std::string_view> views;
  REVERB_TF_RETURN_IF_ERROR(
      wire::DecodeStrings(*place.chunk, place.tensor, place.offset, 1, &views));
  return std::vector<std::string>(views.begin(), views.end());
}

}  // namespace reverb_tf::client

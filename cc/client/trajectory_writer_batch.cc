// Steps of the trajectory writer by the batch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cc/client/batch_rows.h"
#include "cc/client/trajectory_writer_impl.h"

namespace reverb_tf::client {
struct TrajectoryWriterImpl::Batch {
  struct Value {
    int32_t column;
    const char* data;
    size_t stride;  // from row to row
    TensorView row;
  };

  std::vector<Value> values;     // those that are there
  std::vector<int32_t> columns;  // of `values`
  int64_t steps = -1;
  size_t step_bytes = 0;      // on average
  bool with_items = false;    // the rows are in chunks of their own
  std::vector<bool> squeeze;  // the columns of its items
};

Status TrajectoryWriterImpl::CheckBatch(const TensorView* values, int32_t n, Batch* batch) const {
  if (step_is_open_) {
    return Status(StatusCode::kFailedPrecondition,
                  "A step is open (partial): complete it before steps are appended by the batch.");
  }
  for (int32_t i = 0; i < n; ++i) {
    const TensorView& value = values[i];
    if (value.dtype == DType::kInvalid) continue;
    const std::string what = "The value for column " + std::to_string(i) + " ";
    if (value.rank < 1) {
      return InvalidArgumentError(what +
                                  "is a scalar, but in a batch it needs a leading axis, "
                                  "which the steps are along.");
    }
    if (batch->steps < 0) batch->steps = value.dims[0];
    if (value.dims[0] != batch->steps) {
      return InvalidArgumentError(what + "has " + std::to_string(value.dims[0]) + " rows (shape " +
                                  ShapeString(value.dims, value.rank) +
                                  "), but the one before it has " + std::to_string(batch->steps) +
                                  ": all must have one for each step.");
    }
    const TensorView row = RowOf(value);
    REVERB_TF_RETURN_IF_ERROR(CheckKind(i, row));
    // Rows of strings differ in size: those of a batch have to fit together.
    const bool strings = value.dtype == DType::kString;
    REVERB_TF_RETURN_IF_ERROR(CheckSize(i, strings ? value : row));
    batch->values.push_back({i, static_cast<const char*>(value.data), StrideOf(row), row});
    batch->columns.push_back(i);
    if (batch->steps > 0) batch->step_bytes += RowBytes(value, batch->steps);
  }
  if (batch->values.empty()) {
    return InvalidArgumentError("Nothing to append: the batch has no values.");
  }
  if (batch->steps > std::numeric_limits<int32_t>::max() - step_) {
    return Status(StatusCode::kFailedPrecondition, "The episode has too many steps: end it.");
  }
  return OkStatus();
}

int32_t TrajectoryWriterImpl::PieceOfBatch(const Batch& batch, int64_t first) const {
  int64_t rows = batch.steps - first;
  size_t bytes = kMaxGroupBytes;
  for (const Batch::Value& value : batch.values) {
    const WriterColumn& column = columns_[value.column].rows;
    const ChunkerOptions& options = column.options();
    if (options.max_chunk_length > 0) {
      rows = std::min<int64_t>(rows, options.max_chunk_length - column.open_rows());
    } else {
      bytes = kBatchChunkBytes;
      if (!batch.with_items) {
        rows = std::min<int64_t>(rows, options.num_keep_alive_refs - column.open_rows());
      }
    }
  }
  if (batch.step_bytes > 0) {
    rows = std::min<int64_t>(rows, static_cast<int64_t>(bytes / batch.step_bytes));
  }
  return static_cast<int32_t>(std::max<int64_t>(rows, 1));
}

void TrajectoryWriterImpl::AddBatchRows(const Batch& batch, int64_t first, int32_t count,
                                        StepRef* refs) {
  for (const Batch::Value& value : batch.values) {
    Column& column = columns_[value.column];
    if (!column.rows.defined()) {
      column.rows.Define(value.row);
      column.last_item = items_made_;
    }
    if (first == 0) refs[value.column] = {value.column, column.rows.num_rows()};
    column.rows.AddRows(value.data + static_cast<size_t>(first) * value.stride, count, step_);
    column.in_open_step = false;
  }
  step_ += count;
}

Status TrajectoryWriterImpl::AppendSequence(const TensorView* values, int32_t n, StepRef* refs) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  Batch batch;
  REVERB_TF_RETURN_IF_ERROR(CheckBatch(values, n, &batch));
  std::fill(refs, refs + n, StepRef());
  AddColumns(n);
  for (int64_t first = 0; first < batch.steps;) {
    const int32_t count = PieceOfBatch(batch, first);
    AddBatchRows(batch, first, count, refs);
    Status status = CloseStep();
    if (!status.ok()) {
      for (Column& column : columns_) column.rows.CopyRows();
      return status;
    }
    first += count;
  }
  NoteEvents();
  return SendComplete();
}

Status TrajectoryWriterImpl::CheckBatchItems(const BatchItems& items,
                                             const ItemTables::Entry& entry,
                                             const TensorView* values, Batch* batch) {
  if (items.priorities.size() != static_cast<size_t>(batch->steps)) {
    return InvalidArgumentError("Got " + std::to_string(items.priorities.size()) +
                                " priorities for " + std::to_string(batch->steps) + " steps.");
  }
  for (size_t i = 0; i < items.priorities.size(); ++i) {
    if (std::isnan(items.priorities[i])) {
      return InvalidArgumentError("Priority " + std::to_string(i) + " of the items for table '" +
                                  items.table + "' is NaN.");
    }
    if (entry.owner == nullptr) continue;
    REVERB_TF_RETURN_IF_ERROR(entry.owner->CheckPriority(items.table, items.priorities[i]));
  }
  if (items.columns.empty()) return InvalidArgumentError("An item must have at least one column.");
  const TableSignature* const signature = entry.signature;
  shapes_.clear();
  for (int32_t column : items.columns) {
    if (std::find(batch->columns.begin(), batch->columns.end(), column) == batch->columns.end()) {
      return InvalidArgumentError("Column " + std::to_string(column) + " is not in the batch.");
    }
    const TensorView row = RowOf(values[column]);
    ColumnShape shape = {row.dtype, row.dims, row.rank, 1, false};
    const size_t i = shapes_.size();
    if (signature != nullptr && signature->has_signature && i < signature->leaves.size()) {
      const TensorSpec& leaf = signature->leaves[i];
      shape.squeezed = !leaf.unknown_rank && leaf.AcceptsShape(row.dims, row.rank);
    }
    shapes_.push_back(shape);
    batch->squeeze.push_back(shape.squeezed);
  }
  return signature == nullptr ? OkStatus() : CheckItem(items.table, *signature, shapes_);
}

Result<std::vector<uint64_t>> TrajectoryWriterImpl::AppendBatch(const TensorView* values, int32_t n,
                                                                const BatchItems& items,
                                                                StepRef* refs,
                                                                const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  Batch batch;
  batch.with_items = true;
  REVERB_TF_RETURN_IF_ERROR(CheckBatch(values, n, &batch));
  REVERB_TF_ASSIGN_OR_RETURN(const ItemTables::Entry* const entry, tables_.Find(items.table, wait));
  REVERB_TF_RETURN_IF_ERROR(CheckBatchItems(items, *entry, values, &batch));
  REVERB_TF_RETURN_IF_ERROR(session_->WaitForRoom(wait));
  REVERB_TF_RETURN_IF_ERROR(CloseAll());
  REVERB_TF_RETURN_IF_ERROR(SendComplete());
  std::fill(refs, refs + n, StepRef());
  AddColumns(n);
  std::vector<uint64_t> keys;
  keys.reserve(static_cast<size_t>(batch.steps));
  for (int64_t first = 0; first < batch.steps;) {
    const int32_t count = PieceOfBatch(batch, first);
    AddBatchRows(batch, first, count, refs);
    Status status = CloseColumns(batch.columns);
    if (!status.ok()) {
      for (Column& column : columns_) column.rows.CopyRows();
      return status;
    }
    REVERB_TF_RETURN_IF_ERROR(AddBatchItems(batch, items, *entry->name, first, count, &keys));
    session_->Send();
    first += count;
  }
  return keys;
}

Status TrajectoryWriterImpl::AddBatchItems(const Batch& batch, const BatchItems& items,
                                           const std::string& table, int64_t first, int32_t count,
                                           std::vector<uint64_t>* keys) {
  std::vector<core::ChunkRef> chunks;
  std::vector<core::Column> columns;
  std::vector<core::ChunkSlice> slices;
  for (size_t i = 0; i < items.columns.size(); ++i) {
    Column& column = columns_[items.columns[i]];
    column.last_item = items_made_ + count;
    // The newest row is always alive, and its chunk has exactly the rows of this piece.
    const WriterColumn::Place place = column.rows.Find(column.rows.num_rows() - 1, pool_);
    const auto at = std::find(chunks.begin(), chunks.end(), place.chunk);
    slices.push_back({static_cast<uint32_t>(at - chunks.begin()), 0, 1, place.tensor});
    if (at == chunks.end()) chunks.push_back(place.chunk);
    columns.push_back({static_cast<uint32_t>(i), 1, batch.squeeze[i]});
  }
  std::vector<SessionItem> made(static_cast<size_t>(count));
  for (int32_t row = 0; row < count; ++row) {
    for (core::ChunkSlice& slice : slices) slice.offset = row;
    SessionItem& item = made[row];
    item.table = &table;
    item.priority = items.priorities[first + row];
    REVERB_TF_ASSIGN_OR_RETURN(item.trajectory, core::Trajectory::Create(chunks, columns, slices));
    item.bytes = std::exchange(uncounted_bytes_, 0) + 64 * slices.size();
  }
  REVERB_TF_RETURN_IF_ERROR(session_->AddAll(std::move(made), pool_.events()).status());
  pool_.ClearEvents();
  for (int32_t row = 0; row < count; ++row) {
    keys->push_back(session_->keys().Key(static_cast<uint64_t>(items_made_++)));
  }
  return OkStatus();
}

}  // namespace reverb_tf::client

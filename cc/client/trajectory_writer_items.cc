// Items of the trajectory writer.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cc/client/trajectory_writer_impl.h"

namespace reverb_tf::client {
namespace {

Status ItemError(int32_t column, const std::string& what) {
  return InvalidArgumentError("Error in column " + std::to_string(column) + ": " + what);
}

std::string RangeText(const RowRange& range) {
  const std::string first = std::to_string(range.first);
  return "rows [" + first + ", " + first + " + " + std::to_string(range.length) +
         ") of the writer's column " + std::to_string(range.column);
}

int64_t NumRows(const ItemColumn& column) {
  int64_t rows = 0;
  for (const RowRange& range : column.ranges) rows += range.length;
  return rows;
}

}  // namespace

const TrajectoryWriterImpl* TrajectoryWriterImpl::OwnerOf(const RowRange& range) const {
  return range.writer == nullptr ? this : dynamic_cast<const TrajectoryWriterImpl*>(range.writer);
}

Status TrajectoryWriterImpl::CheckRange(int32_t index, const RowRange& range) const {
  const TrajectoryWriterImpl* const owner = OwnerOf(range);
  if (owner == nullptr) return ItemError(index, "it has rows of another kind of writer.");
  if (range.column < 0 || range.column >= static_cast<int32_t>(owner->columns_.size())) {
    return ItemError(index, "the writer has no column " + std::to_string(range.column) + ".");
  }
  const WriterColumn& rows = owner->columns_[range.column].rows;
  if (range.length < 1 || range.first < 0 || range.first > rows.num_rows() - range.length) {
    return ItemError(index, RangeText(range) + " do not exist: it has " +
                                std::to_string(rows.num_rows()) + " rows.");
  }
  if (range.first < rows.first_alive()) {
    return ItemError(index, RangeText(range) + " have expired: the oldest that is kept is row " +
                                std::to_string(rows.first_alive()) + ".");
  }
  return OkStatus();
}

Status TrajectoryWriterImpl::CheckColumn(int32_t index, const ItemColumn& column) const {
  if (column.ranges.empty()) return ItemError(index, "it has no rows.");
  const WriterColumn* first = nullptr;
  for (const RowRange& range : column.ranges) {
    REVERB_TF_RETURN_IF_ERROR(CheckRange(index, range));
    const WriterColumn& rows = RowsOf(range);
    if (first == nullptr) first = &rows;
    if (rows.dtype() != first->dtype()) {
      return ItemError(index, std::string("it has rows of different dtypes: ") +
                                  DTypeName(first->dtype()) + " and " + DTypeName(rows.dtype()) +
                                  ".");
    }
    if (!std::equal(rows.dims(), rows.dims() + rows.rank(), first->dims(),
                    first->dims() + first->rank())) {
      return ItemError(
          index, "it has rows of different shapes: " + ShapeString(first->dims(), first->rank()) +
                     " and " + ShapeString(rows.dims(), rows.rank()) + ".");
    }
  }
  if (column.squeeze && NumRows(column) != 1) {
    return ItemError(index, "a squeezed column must have exactly one row, but this one has " +
                                std::to_string(NumRows(column)) + ".");
  }
  return OkStatus();
}

Status TrajectoryWriterImpl::CheckSignature(const std::string& table,
                                            const TableSignature& signature,
                                            const std::vector<ItemColumn>& columns) {
  shapes_.clear();
  for (const ItemColumn& column : columns) {
    const WriterColumn& rows = RowsOf(column.ranges[0]);
    shapes_.push_back({rows.dtype(), rows.dims(), rows.rank(), NumRows(column), column.squeeze});
  }
  return CheckItem(table, signature, shapes_);
}

void TrajectoryWriterImpl::AddColumn(const ItemColumn& column, DraftItem* draft) const {
  draft->AddColumn(column.squeeze);
  for (const RowRange& range : column.ranges) {
    const TrajectoryWriterImpl& owner = *OwnerOf(range);
    const WriterColumn& rows = owner.columns_[range.column].rows;
    const int64_t end = range.first + range.length;
    for (int64_t row = range.first; row < end;) {
      const WriterColumn::Place place = rows.Find(row, owner.pool_);
      const int64_t length = std::min(place.rows, end - row);
      if (place.chunk) {
        draft->AddRows(place.chunk, place.tensor, place.offset, length);
      } else {
        draft->AddOpenRows(range.column, place.offset, length);
      }
      row += length;
    }
  }
}

Status TrajectoryWriterImpl::CloseRowsOfOthers(const std::vector<ItemColumn>& columns) {
  for (const ItemColumn& column : columns) {
    for (const RowRange& range : column.ranges) {
      if (range.writer == nullptr || range.writer == this) continue;
      auto* const owner = static_cast<TrajectoryWriterImpl*>(range.writer);
      if (range.first + range.length <= RowsOf(range).open_first_row()) continue;
      std::vector<bool> wanted(owner->columns_.size());
      wanted[range.column] = true;
      REVERB_TF_RETURN_IF_ERROR(owner->CloseColumns(owner->WithCompanions(wanted)));
      REVERB_TF_RETURN_IF_ERROR(owner->SendComplete());
    }
  }
  return OkStatus();
}

Status TrajectoryWriterImpl::CloseDueRows(const std::vector<ItemColumn>& columns) {
  std::vector<bool> wanted(columns_.size());
  bool any = false;
  for (const ItemColumn& column : columns) {
    for (const RowRange& range : column.ranges) {
      if (OwnerOf(range) != this) continue;
      const WriterColumn& rows = columns_[range.column].rows;
      if (range.first + range.length <= rows.open_first_row()) continue;
      if (rows.open_rows() < ChunkLength(rows)) continue;
      wanted[range.column] = true;
      any = true;
    }
  }
  return any ? CloseColumns(WithCompanions(wanted)) : OkStatus();
}

Result<uint64_t> TrajectoryWriterImpl::CreateItem(const std::string& table, double priority,
                                                  const std::vector<ItemColumn>& columns,
                                                  const WaitOptions& wait) {
  REVERB_TF_RETURN_IF_ERROR(CheckAlive());
  if (std::isnan(priority)) {
    return InvalidArgumentError("The priority of an item for table '" + table + "' is NaN.");
  }
  if (columns.empty()) return InvalidArgumentError("An item must have at least one column.");
  for (size_t i = 0; i < columns.size(); ++i) {
    REVERB_TF_RETURN_IF_ERROR(CheckColumn(static_cast<int32_t>(i), columns[i]));
  }
  REVERB_TF_ASSIGN_OR_RETURN(const ItemTables::Entry* const entry, tables_.Find(table, wait));
  if (entry->signature != nullptr) {
    REVERB_TF_RETURN_IF_ERROR(CheckSignature(table, *entry->signature, columns));
    REVERB_TF_RETURN_IF_ERROR(entry->owner->CheckPriority(table, priority));
  }
  REVERB_TF_RETURN_IF_ERROR(session_->WaitForRoom(wait));
  REVERB_TF_RETURN_IF_ERROR(CloseRowsOfOthers(columns));
  if (step_is_open_) REVERB_TF_RETURN_IF_ERROR(CloseDueRows(columns));
  scratch_.Clear();
  scratch_.table = entry->name;
  scratch_.priority = priority;
  for (const ItemColumn& column : columns) {
    AddColumn(column, &scratch_);
    for (const RowRange& range : column.ranges) {
      if (OwnerOf(range) == this) columns_[range.column].last_item = items_made_;
    }
  }
  const uint64_t key = session_->keys().Key(static_cast<uint64_t>(items_made_++));
  if (drafts_.empty() && scratch_.complete()) {
    REVERB_TF_RETURN_IF_ERROR(SendItem(scratch_));
    session_->Send();
  } else {
    drafts_.push_back(std::move(scratch_));
    REVERB_TF_RETURN_IF_ERROR(SendComplete());
  }
  return key;
}

Status TrajectoryWriterImpl::SendComplete() {
  bool any = false;
  while (!drafts_.empty() && drafts_.front().complete()) {
    REVERB_TF_RETURN_IF_ERROR(SendItem(drafts_.front()));
    drafts_.pop_front();
    any = true;
  }
  if (any) session_->Send();
  return OkStatus();
}

Status TrajectoryWriterImpl::SendItem(const DraftItem& draft) {
  SessionItem item;
  item.table = draft.table;
  item.priority = draft.priority;
  REVERB_TF_ASSIGN_OR_RETURN(item.trajectory, draft.Finish(&tuner_));
  item.bytes = std::min(std::exchange(uncounted_bytes_, 0), item.trajectory->chunk_bytes()) +
               64 * item.trajectory->num_slices();
  Result<uint64_t> key = session_->Add(std::move(item), pool_.events());
  pool_.ClearEvents();
  return key.ok() ? OkStatus() : key.status();
}

}  // namespace reverb_tf::client

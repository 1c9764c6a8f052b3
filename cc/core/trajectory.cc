#include "cc/core/trajectory.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "reverb_tf/tensor.h"

namespace reverb_tf::core {
namespace {

Status ColumnError(size_t column, const std::string& what) {
  return InvalidArgumentError("Column " + std::to_string(column) + " of the trajectory " + what);
}

std::string RowShape(const ChunkTensor& tensor) {
  return ShapeString(tensor.dims + 1, tensor.rank - 1);
}

Status CheckChunks(const std::vector<ChunkRef>& chunks) {
  for (const ChunkRef& chunk : chunks) {
    if (!chunk) return InvalidArgumentError("A chunk of the trajectory is null.");
  }
  if (chunks.size() < 2) return OkStatus();
  std::vector<uint64_t> keys;
  keys.reserve(chunks.size());
  for (const ChunkRef& chunk : chunks) keys.push_back(chunk->key());
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return OkStatus();
  return InvalidArgumentError("Chunk " + std::to_string(*twice) +
                              " is listed twice in the trajectory; expected distinct chunks.");
}

// One slice by itself.
Status CheckSlice(size_t column, const std::vector<ChunkRef>& chunks, const ChunkSlice& slice) {
  if (slice.chunk >= chunks.size()) {
    return ColumnError(column, "refers to chunk number " + std::to_string(slice.chunk) + " of " +
                                   std::to_string(chunks.size()) + ".");
  }
  const Chunk& chunk = *chunks[slice.chunk];
  if (slice.tensor < 0 || slice.tensor >= chunk.num_tensors()) {
    return ColumnError(column, "refers to tensor " + std::to_string(slice.tensor) + " of chunk " +
                                   std::to_string(chunk.key()) + ", which has " +
                                   std::to_string(chunk.num_tensors()) + " tensors.");
  }
  const int64_t rows = chunk.tensor(slice.tensor).dims[0];
  if (slice.offset < 0 || slice.length < 1 || slice.offset > rows ||
      slice.length > rows - slice.offset) {
    return ColumnError(column, "has a slice of " + std::to_string(slice.length) +
                                   " rows from row " + std::to_string(slice.offset) + " of chunk " +
                                   std::to_string(chunk.key()) + ", which has " +
                                   std::to_string(rows) + " rows; expected at least one row, " +
                                   "all of them in the chunk.");
  }
  return OkStatus();
}

// Slices of one column with each other.
Status CheckSame(size_t column, const ChunkTensor& first, const ChunkTensor& other) {
  if (other.dtype != first.dtype) {
    return ColumnError(column, std::string("has slices of dtype ") + DTypeName(first.dtype) +
                                   " and " + DTypeName(other.dtype) + "; expected one dtype.");
  }
  if (other.rank != first.rank ||
      !std::equal(first.dims + 1, first.dims + first.rank, other.dims + 1)) {
    return ColumnError(column, "has slices of shape " + RowShape(first) + " and " +
                                   RowShape(other) + " a row; expected one shape.");
  }
  return OkStatus();
}

Status CheckColumn(size_t index, const Column& column, const std::vector<ChunkRef>& chunks,
                   const std::vector<ChunkSlice>& slices, uint32_t* chunks_used) {
  int64_t rows = 0;
  const ChunkTensor* first = nullptr;
  for (uint32_t i = 0; i < column.num_slices; ++i) {
    const ChunkSlice& slice = slices[column.first_slice + i];
    REVERB_TF_RETURN_IF_ERROR(CheckSlice(index, chunks, slice));
    if (slice.chunk > *chunks_used) {
      return ColumnError(index, "uses chunk number " + std::to_string(slice.chunk) +
                                    " before chunk number " + std::to_string(*chunks_used) +
                                    "; expected chunks in the order of their first use.");
    }
    if (slice.chunk == *chunks_used) ++*chunks_used;
    const ChunkTensor& tensor = chunks[slice.chunk]->tensor(slice.tensor);
    if (first == nullptr) first = &tensor;
    REVERB_TF_RETURN_IF_ERROR(CheckSame(index, *first, tensor));
    rows += slice.length;
  }
  if (column.squeeze && rows != 1) {
    return ColumnError(index, "is to be squeezed and has " + std::to_string(rows) +
                                  " rows; expected exactly one row.");
  }
  return OkStatus();
}

Status Check(const std::vector<ChunkRef>& chunks, const std::vector<Column>& columns,
             const std::vector<ChunkSlice>& slices) {
  if (columns.empty()) {
    return InvalidArgumentError("The trajectory has no columns; expected at least one.");
  }
  REVERB_TF_RETURN_IF_ERROR(CheckChunks(chunks));
  uint32_t chunks_used = 0;
  size_t slices_used = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (column.num_slices == 0) return ColumnError(i, "is empty; expected at least one row.");
    if (column.first_slice != slices_used || column.num_slices > slices.size() - slices_used) {
      return ColumnError(i, "has slices " + std::to_string(column.first_slice) + " to " +
                                std::to_string(uint64_t{column.first_slice} + column.num_slices) +
                                " of " + std::to_string(slices.size()) + "; expected them from " +
                                std::to_string(slices_used) + " on.");
    }
    slices_used += column.num_slices;
    REVERB_TF_RETURN_IF_ERROR(CheckColumn(i, column, chunks, slices, &chunks_used));
  }
  if (slices_used != slices.size()) {
    return InvalidArgumentError("The columns of the trajectory use " + std::to_string(slices_used) +
                                " of " + std::to_string(slices.size()) + " slices; expected all.");
  }
  if (chunks_used != chunks.size()) {
    return InvalidArgumentError("The columns of the trajectory use " + std::to_string(chunks_used) +
                                " of " + std::to_string(chunks.size()) + " chunks; expected all.");
  }
  return OkStatus();
}

}  // namespace

Result<TrajectoryRef> Trajectory::Create(std::vector<ChunkRef> chunks,
                                         const std::vector<Column>& columns,
                                         const std::vector<ChunkSlice>& slices) {
  REVERB_TF_RETURN_IF_ERROR(Check(chunks, columns, slices));
  static_assert(sizeof(Column) % alignof(ChunkSlice) == 0 && alignof(Column) <= alignof(ChunkRef),
                "the arrays follow each other without gaps");
  const size_t size = sizeof(Trajectory) + chunks.size() * sizeof(ChunkRef) +
                      columns.size() * sizeof(Column) + slices.size() * sizeof(ChunkSlice);
  Trajectory* result = new (::operator new(size))
      Trajectory(static_cast<int32_t>(chunks.size()), static_cast<int32_t>(columns.size()),
                 static_cast<int32_t>(slices.size()));
  for (const ChunkRef& chunk : chunks) result->chunk_bytes_ += chunk->num_bytes();
  std::uninitialized_move(chunks.begin(), chunks.end(), const_cast<ChunkRef*>(result->chunks()));
  std::uninitialized_copy(columns.begin(), columns.end(), const_cast<Column*>(result->columns()));
  std::uninitialized_copy(slices.begin(), slices.end(), const_cast<ChunkSlice*>(result->slices()));
  return TrajectoryRef::Adopt(result);
}

int64_t Trajectory::num_rows(int column) const {
  const Column& c = this->column(column);
  int64_t rows = 0;
  for (uint32_t i = 0; i < c.num_slices; ++i) rows += slice(c.first_slice + i).length;
  return rows;
}

TrajectoryRef Trajectory::InOnePiece(TrajectoryRef trajectory) {
  std::vector<ChunkRef> chunks;
  bool changed = false;
  chunks.reserve(trajectory->num_chunks_);
  for (int i = 0; i < trajectory->num_chunks_; ++i) {
    chunks.push_back(Chunk::InOnePiece(trajectory->chunk(i)));
    changed = changed || chunks.back() != trajectory->chunk(i);
  }
  if (!changed) return trajectory;
  const Column* const columns = trajectory->columns();
  const ChunkSlice* const slices = trajectory->slices();
  return Create(std::move(chunks), {columns, columns + trajectory->num_columns_},
                {slices, slices + trajectory->num_slices_})
      .value();
}

void Trajectory::Unref() const {
  if (!refs_.Unref()) return;
  Trajectory* self = const_cast<Trajectory*>(this);
  std::destroy_n(const_cast<ChunkRef*>(chunks()), num_chunks_);
  self->~Trajectory();
  ::operator delete(self);
}

}  // namespace reverb_tf::core

#include "cc/wire/item_codec.h"
#include "cc/wire/wire_format.h"

namespace reverb_tf::wire {
namespace {

constexpr int64_t kNanosPerSecond = 1000000000;

}  // namespace

ItemWriter::ItemWriter(const ItemView& item) : item_(item) {
  if (item.inserted_at_nanos > 0) {
    timestamp_size_ = VarintFieldSize(SignExtend(item.inserted_at_nanos / kNanosPerSecond)) +
                      VarintFieldSize(SignExtend(item.inserted_at_nanos % kNanosPerSecond));
  }
  for (int i = 0; i < item.trajectory->num_columns(); ++i) {
    trajectory_size_ += DelimitedSize(ColumnSize(item.trajectory->column(i)));
  }
  size_ = VarintFieldSize(item.key) + DoubleFieldSize(item.priority) +
          VarintFieldSize(SignExtend(item.times_sampled)) + DelimitedSize(trajectory_size_);
  if (!item.table.empty()) size_ += DelimitedSize(item.table.size());
  if (timestamp_size_ > 0) size_ += DelimitedSize(timestamp_size_);
}

// ChunkSlice: chunk_key = 1, offset = 2, length = 3, index = 4.
size_t ItemWriter::SliceSize(const core::ChunkSlice& slice) const {
  return VarintFieldSize(item_.trajectory->chunk(static_cast<int>(slice.chunk))->key()) +
         VarintFieldSize(SignExtend(slice.offset)) + VarintFieldSize(SignExtend(slice.length)) +
         VarintFieldSize(SignExtend(slice.tensor));
}

size_t ItemWriter::ColumnSize(const core::Column& column) const {
  size_t size = VarintFieldSize(column.squeeze);
  for (uint32_t i = 0; i < column.num_slices; ++i) {
    const auto slice = static_cast<int>(column.first_slice + i);
    size += DelimitedSize(SliceSize(item_.trajectory->slice(slice)));
  }
  return size;
}

char* ItemWriter::WriteTrajectory(char* out) const {
  const core::Trajectory& trajectory = *item_.trajectory;
  for (int c = 0; c < trajectory.num_columns(); ++c) {
    const core::Column& column = trajectory.column(c);
    out = WriteDelimitedHeader(out, 1, ColumnSize(column));
    for (uint32_t i = 0; i < column.num_slices; ++i) {
      const core::ChunkSlice& slice = trajectory.slice(static_cast<int>(column.first_slice + i));
      out = WriteDelimitedHeader(out, 1, SliceSize(slice));
      out = WriteVarintField(out, 1, trajectory.chunk(static_cast<int>(slice.chunk))->key());
      out = WriteVarintField(out, 2, SignExtend(slice.offset));
      out = WriteVarintField(out, 3, SignExtend(slice.length));
      out = WriteVarintField(out, 4, SignExtend(slice.tensor));
    }
    out = WriteVarintField(out, 2, column.squeeze);
  }
  return out;
}

char* ItemWriter::Write(char* out) const {
  out = WriteVarintField(out, 1, item_.key);
  if (!item_.table.empty()) {
    out = WriteBytes(WriteDelimitedHeader(out, 2, item_.table.size()), item_.table);
  }
  out = WriteDoubleField(out, 5, item_.priority);
  out = WriteVarintField(out, 6, SignExtend(item_.times_sampled));
  if (timestamp_size_ > 0) {
    out = WriteDelimitedHeader(out, 7, timestamp_size_);
    out = WriteVarintField(out, 1, SignExtend(item_.inserted_at_nanos / kNanosPerSecond));
    out = WriteVarintField(out, 2, SignExtend(item_.inserted_at_nanos % kNanosPerSecond));
  }
  return WriteTrajectory(WriteDelimitedHeader(out, 8, trajectory_size_));
}

}  // namespace reverb_tf::wire

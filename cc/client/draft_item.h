// An item some of whose rows may not be in a chunk yet.
#ifndef REVERB_TF_CLIENT_DRAFT_ITEM_H_
#define REVERB_TF_CLIENT_DRAFT_ITEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cc/client/chunk_length_tuner.h"
#include "cc/core/chunk.h"
#include "cc/core/trajectory.h"
#include "reverb_tf/status.h"

namespace reverb_tf::client {

// Collects the slices of an item, column by column. Not thread-safe.
class DraftItem {
 public:
  const std::string* table = nullptr;
  double priority = 0;

  // Starts the next column.
  void AddColumn(bool squeeze);
  // Appends rows to it: of a chunk, or of the open buffer of a column of the writer. Rows that
  // follow the ones before in the same place become one slice with them.
  void AddRows(const core::ChunkRef& chunk, int32_t tensor, int64_t offset, int64_t length);
  void AddOpenRows(int32_t writer_column, int64_t offset, int64_t length);

  // The rows that were in the open buffer of the column are in the chunk now.
  void Resolve(int32_t writer_column, const core::ChunkRef& chunk, int32_t tensor);
  bool NeedsColumn(int32_t writer_column) const;
  // All rows are in chunks.
  bool complete() const { return open_slices_ == 0; }

  // Once complete. Tells the tuner, if it is not null.
  Result<core::TrajectoryRef> Finish(ChunkLengthTuner* tuner) const;

  // Forgets everything but its memory.
  void Clear();

 private:
  struct Slice {
    core::ChunkRef chunk;        // null: open
    int32_t writer_column = -1;  // if open
    int32_t tensor = 0;
    int64_t offset = 0;
    int64_t length = 0;
  };

  // The last slice of the last column; null if it has none.
  Slice* Last();
  void Push(Slice slice);
  void Report(const std::vector<core::ChunkRef>& chunks, ChunkLengthTuner* tuner) const;

  std::vector<core::Column> columns_;
  std::vector<Slice> slices_;
  int32_t open_slices_ = 0;
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_DRAFT_ITEM_H_

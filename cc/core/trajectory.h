// A trajectory: for each column, slices of chunks.
#ifndef REVERB_TF_CORE_TRAJECTORY_H_
#define REVERB_TF_CORE_TRAJECTORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cc/core/chunk.h"
#include "cc/core/ref_counted.h"
#include "reverb_tf/status.h"

namespace reverb_tf::core {

class Trajectory;
using TrajectoryRef = RefPtr<const Trajectory>;

struct ChunkSlice {
  uint32_t chunk;  // index into Trajectory::chunk()
  int32_t offset;  // first row
  int32_t length;  // rows
  int32_t tensor;  // tensor of the chunk
};

// Slices [first_slice, first_slice + num_slices) concatenated along the row axis.
struct Column {
  uint32_t first_slice;
  uint32_t num_slices;
  bool squeeze;  // one row, without the row axis
};

// Immutable, reference-counted, one allocation. Thread-safe.
class Trajectory {
 public:
  // Checks everything that a reader relies on, and says in INVALID_ARGUMENT what is wrong: at least
  // one column; each column at least one slice, the columns' slices one after the other, none left
  // over; chunk and tensor indices in range; 0 <= offset, 1 <= length, offset + length
  // <= rows of the chunk; one dtype, rank and inner shape in a column; squeeze means one row.
  // `chunks` are distinct, each used, in the order of their first use.
  static Result<TrajectoryRef> Create(std::vector<ChunkRef> chunks,
                                      const std::vector<Column>& columns,
                                      const std::vector<ChunkSlice>& slices);

  int num_chunks() const { return num_chunks_; }
  const ChunkRef& chunk(int i) const { return chunks()[i]; }
  int num_columns() const { return num_columns_; }
  const Column& column(int i) const { return columns()[i]; }
  const ChunkSlice& slice(int i) const { return slices()[i]; }
  int num_slices() const { return num_slices_; }

  // Rows of a column: the sum of its slices' lengths.
  int64_t num_rows(int column) const;
  // Sum of the sizes of the chunks' bytes.
  size_t chunk_bytes() const { return chunk_bytes_; }

  void Ref() const { refs_.Ref(); }
  void Unref() const;

  // The same with a copy of each chunk that is in pieces; itself if none is.
  static TrajectoryRef InOnePiece(TrajectoryRef trajectory);

 private:
  // The arrays follow the object: chunks, columns, slices. Their places follow from their sizes.
  Trajectory(int32_t num_chunks, int32_t num_columns, int32_t num_slices)
      : num_chunks_(num_chunks), num_columns_(num_columns), num_slices_(num_slices) {}
  ~Trajectory() = default;

  const ChunkRef* chunks() const { return reinterpret_cast<const ChunkRef*>(this + 1); }
  const Column* columns() const { return reinterpret_cast<const Column*>(chunks() + num_chunks_); }
  const ChunkSlice* slices() const {
    return reinterpret_cast<const ChunkSlice*>(columns() + num_columns_);
  }

  RefCount refs_;
  int32_t num_chunks_;
  int32_t num_columns_;
  int32_t num_slices_;
  size_t chunk_bytes_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_TRAJECTORY_H_

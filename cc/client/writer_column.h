// One column of a trajectory writer.
#ifndef REVERB_TF_CLIENT_WRITER_COLUMN_H_
#define REVERB_TF_CLIENT_WRITER_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cc/client/chunk_pool.h"
#include "cc/core/chunk.h"
#include "cc/wire/compression_advisor.h"
#include "reverb_tf/status.h"
#include "reverb_tf/tensor.h"
#include "reverb_tf/trajectory_writer.h"

namespace reverb_tf::client {

// Rows are copied once, into the open buffer, and once more into their chunk; a row that makes a
// chunk of its own is copied into that only. Rows are counted over the life of the writer. Not
// thread-safe.
class WriterColumn {
 public:
  // Where a row is.
  struct Place {
    core::ChunkRef chunk;  // null: in the open buffer
    int32_t tensor = 0;    // of the chunk
    int64_t offset = 0;    // in the chunk or buffer
    int64_t rows = 0;      // up to the end of the chunk or buffer
  };

  explicit WriterColumn(const ChunkerOptions& options) : options_(options) {}

  // The first value: dtype and shape of the column are its. Before, there are no rows, and the
  // dtype is kInvalid.
  void Define(const TensorView& value);
  bool defined() const { return dtype_ != DType::kInvalid; }

  DType dtype() const { return dtype_; }
  const int64_t* dims() const { return dims_.data() + 1; }
  int32_t rank() const { return static_cast<int32_t>(dims_.size()) - 1; }
  bool Accepts(const TensorView& value) const;

  const ChunkerOptions& options() const { return options_; }
  // Rows that have expired stay so.
  void set_options(const ChunkerOptions& options) {
    first_kept_ = first_alive();
    options_ = options;
  }
  wire::CompressionAdvisor& advisor() { return advisor_; }

  // Opens a row for step `step`. The elements must be valid until the row is closed, or is copied
  // by CopyRows.
  void AddRow(const TensorView& value, int32_t step) { AddRows(value.data, 1, step); }
  // The same for `count` rows, one behind the other, of steps from `step` on.
  void AddRows(const void* elements, int32_t count, int32_t step);
  // Copies the rows of the last AddRow or AddRows; before the next one, unless they were closed.
  void CopyRows();

  int64_t num_rows() const { return num_rows_; }
  int32_t open_rows() const { return open_rows_; }
  int64_t open_first_row() const { return num_rows_ - open_rows_; }
  size_t open_bytes() const { return row_bytes_ * open_rows_ + string_bytes_; }
  int32_t open_first_step() const { return first_step_; }
  int32_t open_last_step() const { return last_step_; }
  // Whether steps are missing between the first and the last open row.
  bool open_sparse() const { return last_step_ - first_step_ + 1 != open_rows_; }
  // The open rows as an array; valid until the next change.
  TensorView OpenView();
  // The open rows are in tensor `tensor` of a chunk now.
  void CloseRows(ChunkPool::Slot chunk, int32_t tensor);
  void DropOpenRows();

  // The oldest row that can still be referenced.
  int64_t first_alive() const;
  // Every row expires.
  void ExpireAll() { first_kept_ = num_rows_; }
  // Gives back the chunks of which no row is alive.
  void ReleaseExpired(ChunkPool* pool);

  // The row must be alive.
  Place Find(int64_t row, const ChunkPool& pool) const;
  // Of an open row.
  void ReadOpenRow(int64_t offset, void* out) const;
  std::vector<std::string> OpenRowStrings(int64_t offset) const;
  size_t row_bytes() const { return row_bytes_; }
  int64_t row_elements() const { return row_elements_; }

 private:
  // Rows [first_row, first_row + num_rows) are a tensor of a chunk.
  struct Span {
    int64_t first_row;
    int32_t num_rows;
    int32_t tensor;
    ChunkPool::Slot chunk;
  };

  DType dtype_ = DType::kInvalid;
  std::vector<int64_t> dims_{0};  // [open rows] + those of a row
  int64_t row_elements_ = 1;
  size_t row_bytes_ = 0;  // 0 for strings
  ChunkerOptions options_;
  wire::CompressionAdvisor advisor_;

  int64_t num_rows_ = 0;
  int64_t first_kept_ = 0;  // rows before it have expired, however many are kept
  std::deque<Span> spans_;

  int32_t open_rows_ = 0;
  int32_t first_step_ = 0;
  int32_t last_step_ = 0;
  size_t string_bytes_ = 0;                     // of the open rows
  const void* borrowed_ = nullptr;              // elements of the last open rows, if not copied
  int32_t borrowed_rows_ = 0;                   // how many
  std::vector<char> buffer_;                    // elements of the open rows; of strings their bytes
  std::vector<size_t> string_sizes_;            // of strings
  std::vector<std::string_view> string_views_;  // of OpenView
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_WRITER_COLUMN_H_

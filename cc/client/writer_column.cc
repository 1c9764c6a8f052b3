#include "cc/client/writer_column.h"

#include <algorithm>
#include <cstring>

namespace reverb_tf::client {

void WriterColumn::Define(const TensorView& value) {
  dtype_ = value.dtype;
  dims_.insert(dims_.end(), value.dims, value.dims + value.rank);
  row_elements_ = value.num_elements();
  row_bytes_ = value.num_bytes();
}

bool WriterColumn::Accepts(const TensorView& value) const {
  return value.dtype == dtype_ && value.rank == rank() &&
         std::equal(value.dims, value.dims + value.rank, dims());
}

void WriterColumn::AddRows(const void* elements, int32_t count, int32_t step) {
  if (open_rows_ == 0) first_step_ = step;
  last_step_ = step + count - 1;
  open_rows_ += count;
  num_rows_ += count;
  borrowed_ = elements;
  borrowed_rows_ = count;
  if (dtype_ != DType::kString) return;
  const auto* const strings = static_cast<const std::string_view*>(elements);
  for (int64_t i = 0; i < count * row_elements_; ++i) string_bytes_ += strings[i].size();
}

void WriterColumn::CopyRows() {
  if (borrowed_rows_ == 0) return;
  if (dtype_ == DType::kString) {
    const auto* const strings = static_cast<const std::string_view*>(borrowed_);
    for (int64_t i = 0; i < borrowed_rows_ * row_elements_; ++i) {
      buffer_.insert(buffer_.end(), strings[i].begin(), strings[i].end());
      string_sizes_.push_back(strings[i].size());
    }
  } else if (row_bytes_ > 0) {
    const char* const bytes = static_cast<const char*>(borrowed_);
    buffer_.insert(buffer_.end(), bytes, bytes + row_bytes_ * borrowed_rows_);
  }
  borrowed_rows_ = 0;
}

TensorView WriterColumn::OpenView() {
  dims_[0] = open_rows_;
  TensorView view;
  view.dtype = dtype_;
  view.rank = static_cast<int32_t>(dims_.size());
  view.dims = dims_.data();
  if (borrowed_rows_ == open_rows_) {
    view.data = borrowed_;
    return view;
  }
  CopyRows();
  view.data = buffer_.data();
  if (dtype_ == DType::kString) {
    string_views_.clear();
    const char* next = buffer_.data();
    for (size_t size : string_sizes_) {
      string_views_.emplace_back(next, size);
      next += size;
    }
    view.data = string_views_.data();
  }
  return view;
}

void WriterColumn::CloseRows(ChunkPool::Slot chunk, int32_t tensor) {
  spans_.push_back({open_first_row(), open_rows_, tensor, chunk});
  DropOpenRows();
}

void WriterColumn::DropOpenRows() {
  open_rows_ = 0;
  borrowed_rows_ = 0;
  string_bytes_ = 0;
  buffer_.clear();
  string_sizes_.clear();
}

int64_t WriterColumn::first_alive() const {
  return std::max<int64_t>(first_kept_, num_rows_ - options_.num_keep_alive_refs);
}

void WriterColumn::ReleaseExpired(ChunkPool* pool) {
  const int64_t alive = first_alive();
  while (!spans_.empty() && spans_.front().first_row + spans_.front().num_rows <= alive) {
    pool->Release(spans_.front().chunk);
    spans_.pop_front();
  }
}

WriterColumn::Place WriterColumn::Find(int64_t row, const ChunkPool& pool) const {
  if (row >= open_first_row()) return {nullptr, 0, row - open_first_row(), num_rows_ - row};
  auto span = std::upper_bound(spans_.begin(), spans_.end(), row,
                               [](int64_t r, const Span& s) { return r < s.first_row; });
  --span;
  const int64_t offset = row - span->first_row;
  return {pool.chunk(span->chunk), span->tensor, offset, span->num_rows - offset};
}

void WriterColumn::ReadOpenRow(int64_t offset, void* out) const {
  if (row_bytes_ == 0) return;
  std::memcpy(out, buffer_.data() + static_cast<size_t>(offset) * row_bytes_, row_bytes_);
}

std::vector<std::string> WriterColumn::OpenRowStrings(int64_t offset) const {
  const size_t first = static_cast<size_t>(offset * row_elements_);
  const char* next = buffer_.data();
  for (size_t i = 0; i < first; ++i) next += string_sizes_[i];
  std::vector<std::string> strings;
  for (size_t i = first; i < first + static_cast<size_t>(row_elements_); ++i) {
    strings.emplace_back(next, string_sizes_[i]);
    next += string_sizes_[i];
  }
  return strings;
}

}  // namespace reverb_tf::client

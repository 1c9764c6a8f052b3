#include "cc/client/draft_item.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace reverb_tf::client {
namespace {

// The chunk's place in `chunks`, where it is appended if need be. `places` is filled when there are
// many.
uint32_t FindOrAdd(const core::ChunkRef& chunk, std::vector<core::ChunkRef>* chunks,
                   std::unordered_map<const core::Chunk*, uint32_t>* places) {
  constexpr size_t kFew = 8;
  const uint32_t end = static_cast<uint32_t>(chunks->size());
  if (end <= kFew) {
    const auto place =
        static_cast<uint32_t>(std::find(chunks->begin(), chunks->end(), chunk) - chunks->begin());
    if (place == end) chunks->push_back(chunk);
    return place;
  }
  if (places->empty()) {
    for (uint32_t i = 0; i < end; ++i) (*places)[(*chunks)[i].get()] = i;
  }
  const auto [place, is_new] = places->emplace(chunk.get(), end);
  if (is_new) chunks->push_back(chunk);
  return place->second;
}

}  // namespace

void DraftItem::AddColumn(bool squeeze) {
  columns_.push_back({static_cast<uint32_t>(slices_.size()), 0, squeeze});
}

DraftItem::Slice* DraftItem::Last() {
  return columns_.back().num_slices == 0 ? nullptr : &slices_.back();
}

void DraftItem::Push(Slice slice) {
  slices_.push_back(std::move(slice));
  ++columns_.back().num_slices;
}

void DraftItem::AddRows(const core::ChunkRef& chunk, int32_t tensor, int64_t offset,
                        int64_t length) {
  Slice* const last = Last();
  if (last != nullptr && last->chunk == chunk && last->tensor == tensor &&
      last->offset + last->length == offset) {
    last->length += length;
    return;
  }
  Push({chunk, -1, tensor, offset, length});
}

void DraftItem::AddOpenRows(int32_t writer_column, int64_t offset, int64_t length) {
  Slice* const last = Last();
  if (last != nullptr && !last->chunk && last->writer_column == writer_column &&
      last->offset + last->length == offset) {
    last->length += length;
    return;
  }
  Push({nullptr, writer_column, 0, offset, length});
  ++open_slices_;
}

void DraftItem::Resolve(int32_t writer_column, const core::ChunkRef& chunk, int32_t tensor) {
  if (open_slices_ == 0) return;
  for (Slice& slice : slices_) {
    if (slice.chunk || slice.writer_column != writer_column) continue;
    slice.chunk = chunk;
    slice.tensor = tensor;
    --open_slices_;
  }
}

bool DraftItem::NeedsColumn(int32_t writer_column) const {
  if (open_slices_ == 0) return false;
  return std::any_of(slices_.begin(), slices_.end(), [&](const Slice& slice) {
    return !slice.chunk && slice.writer_column == writer_column;
  });
}

Result<core::TrajectoryRef> DraftItem::Finish(ChunkLengthTuner* tuner) const {
  std::vector<core::ChunkRef> chunks;
  std::vector<core::ChunkSlice> slices;
  slices.reserve(slices_.size());
  // For items that jump about among many chunks.
  std::unordered_map<const core::Chunk*, uint32_t> places;
  for (const core::Column& column : columns_) {
    // Columns mostly run through the same chunks in the same order: the next one is a good guess.
    uint32_t guess = 0;
    for (uint32_t i = column.first_slice; i < column.first_slice + column.num_slices; ++i) {
      const Slice& slice = slices_[i];
      if (guess >= chunks.size() || chunks[guess] != slice.chunk) {
        guess = FindOrAdd(slice.chunk, &chunks, &places);
      }
      slices.push_back({guess, static_cast<int32_t>(slice.offset),
                        static_cast<int32_t>(slice.length), slice.tensor});
      ++guess;
    }
  }
  if (tuner != nullptr) Report(chunks, tuner);
  return core::Trajectory::Create(std::move(chunks), columns_, slices);
}

void DraftItem::Report(const std::vector<core::ChunkRef>& chunks, ChunkLengthTuner* tuner) const {
  int64_t rows = 1;
  for (const core::Column& column : columns_) {
    int64_t column_rows = 0;
    for (uint32_t i = 0; i < column.num_slices; ++i) {
      column_rows += slices_[column.first_slice + i].length;
    }
    rows = std::max(rows, column_rows);
  }
  int64_t chunk_rows = 0;
  size_t chunk_bytes = 0;
  for (const core::ChunkRef& chunk : chunks) {
    chunk_rows += chunk->header().num_rows;
    chunk_bytes += chunk->num_bytes();
  }
  tuner->AddItem(rows, static_cast<int64_t>(chunks.size()), chunk_rows, chunk_bytes);
}

void DraftItem::Clear() {
  table = nullptr;
  columns_.clear();
  slices_.clear();
  open_slices_ = 0;
}

}  // namespace reverb_tf::client

// deepmind.reverb.PrioritizedItem <-> items.
#ifndef REVERB_TF_WIRE_ITEM_CODEC_H_
#define REVERB_TF_WIRE_ITEM_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cc/core/table.h"
#include "cc/core/trajectory.h"
#include "cc/wire/cursor.h"
#include "reverb_tf/status.h"

namespace reverb_tf::wire {

// Items that were sampled more often are not accepted: adding to it does not overflow.
inline constexpr int32_t kMaxTimesSampled = 1 << 30;

// An item to be written. Does not own anything.
struct ItemView {
  uint64_t key = 0;
  std::string_view table;
  double priority = 0;
  int32_t times_sampled = 0;
  int64_t inserted_at_nanos = 0;  // since the Unix epoch; 0: left out
  const core::Trajectory* trajectory = nullptr;
};

// Writes one item; the sizes of its nested messages are found once.
class ItemWriter {
 public:
  explicit ItemWriter(const ItemView& item);
  size_t size() const { return size_; }
  // `out` has room for size() bytes; returns their end.
  char* Write(char* out) const;

 private:
  size_t ColumnSize(const core::Column& column) const;
  size_t SliceSize(const core::ChunkSlice& slice) const;
  char* WriteTrajectory(char* out) const;

  const ItemView item_;
  size_t timestamp_size_ = 0;
  size_t trajectory_size_ = 0;
  size_t size_ = 0;
};

// Finds a chunk by its key; null when there is none.
using ChunkLookup = std::function<core::ChunkRef(uint64_t key)>;

struct ParsedItem {
  std::string table;
  int64_t inserted_at_nanos = 0;
  core::NewItem item;
};

// Reads one item and checks it: the result's trajectory is as core::Trajectory::Create says.
// INTERNAL "Could not find sequence chunk K." for a chunk that is not found, INVALID_ARGUMENT for
// the rest.
Result<ParsedItem> ParseItem(Cursor serialized, const ChunkLookup& lookup);

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_ITEM_CODEC_H_

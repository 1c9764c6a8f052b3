#include "cc/wire/old_item.h"

#include <algorithm>
#include <limits>

#include "cc/wire/cursor.h"
#include "proto/schema.pb.h"

namespace reverb_tf::wire {
namespace {

namespace pb = ::deepmind::reverb;

// Calls visit(Cursor) for each value of a repeated message field of the message.
template <typename Visit>
bool ForEachMessage(Cursor message, uint32_t wanted, Visit visit) {
  return ReadMessage(&message, [&](uint32_t field, WireType type) {
    if (field != wanted) return message.SkipValue(type);
    Cursor value;
    return type == WireType::kDelimited && message.ReadDelimited(&value) && visit(value);
  });
}

bool ReadTrajectoryKeys(Cursor trajectory, std::vector<uint64_t>* keys) {
  return ForEachMessage(trajectory, 1, [&](Cursor column) {
    return ForEachMessage(column, 1, [&](Cursor slice) {
      uint64_t key = 0;
      if (!ReadMessage(&slice, [&](uint32_t field, WireType type) {
            if (field != 1) return slice.SkipValue(type);
            return type == WireType::kVarint && slice.ReadVarint(&key);
          })) {
        return false;
      }
      if (keys->empty() || keys->back() != key) keys->push_back(key);
      return true;
    });
  });
}

}  // namespace

Result<ItemOutline> ReadItemOutline(std::string_view serialized) {
  ItemOutline outline;
  Cursor item(serialized);
  const bool ok = ReadMessage(&item, [&](uint32_t field, WireType type) {
    Cursor value;
    switch (field) {
      case 2:
        if (type != WireType::kDelimited || !item.ReadDelimited(&value)) return false;
        outline.table.resize(value.remaining());
        return value.Copy(outline.table.data(), outline.table.size());
      case 3:
        outline.old_form = true;
        return ReadUint64s(&item, type, &outline.chunk_keys);
      case 4:
        outline.old_form = true;
        return item.SkipValue(type);
      case 8:
        return type == WireType::kDelimited && item.ReadDelimited(&value) &&
               ReadTrajectoryKeys(value, &outline.chunk_keys);
      default:
        return item.SkipValue(type);
    }
  });
  if (!ok) return InvalidArgumentError("not a PrioritizedItem message");
  return outline;
}

Result<std::string> RewriteOldItem(std::string_view serialized, const ChunkLookup& lookup) {
  pb::PrioritizedItem item;
  if (serialized.size() > std::numeric_limits<int32_t>::max() ||
      !item.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    return InvalidArgumentError("not a PrioritizedItem message");
  }
  const std::string name = "item " + std::to_string(item.key());
  if (item.has_flat_trajectory()) {
    return InternalError(name + " has both a flat trajectory and fields of the old form");
  }
  const int64_t length = item.deprecated_sequence_range().length();
  int64_t left = length;
  int64_t offset = item.deprecated_sequence_range().offset();
  if (offset < 0 || length < 1 || item.deprecated_chunk_keys().empty()) {
    return InvalidArgumentError(name + " in the old form has no steps");
  }
  pb::FlatTrajectory* const trajectory = item.mutable_flat_trajectory();
  for (const uint64_t key : item.deprecated_chunk_keys()) {
    if (left == 0) break;
    const core::ChunkRef chunk = lookup(key);
    if (!chunk) return InternalError("Could not find sequence chunk " + std::to_string(key) + ".");
    if (trajectory->columns().empty()) {
      for (int i = 0; i < chunk->num_tensors(); ++i) trajectory->add_columns();
    }
    if (chunk->num_tensors() < trajectory->columns_size()) {
      return InvalidArgumentError(name + " has chunks with different numbers of tensors");
    }
    const int64_t rows = std::min(left, chunk->header().num_rows - offset);
    if (rows < 1) return InvalidArgumentError(name + " begins behind its first chunk");
    for (int i = 0; i < trajectory->columns_size(); ++i) {
      pb::FlatTrajectory::ChunkSlice* slice = trajectory->mutable_columns(i)->add_chunk_slices();
      slice->set_chunk_key(key);
      slice->set_offset(static_cast<int32_t>(offset));
      slice->set_length(static_cast<int32_t>(rows));
      slice->set_index(i);
    }
    left -= rows;
    offset = 0;
  }
  if (left > 0) {
    return InvalidArgumentError(name + " has " + std::to_string(length) +
                                " steps, more than are in its chunks");
  }
  item.clear_deprecated_chunk_keys();
  item.clear_deprecated_sequence_range();
  return item.SerializeAsString();
}

}  // namespace reverb_tf::wire

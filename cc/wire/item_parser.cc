#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cc/wire/item_codec.h"

namespace reverb_tf::wire {
namespace {

// Numbers the distinct chunks of an item in the order of their first use.
class ChunkNumbers {
 public:
  explicit ChunkNumbers(const ChunkLookup& lookup) : lookup_(lookup) {}

  Result<uint32_t> Get(uint64_t key) {
    if (!chunks_.empty() && chunks_[last_]->key() == key) return last_;
    if (std::optional<uint32_t> number = Find(key)) {
      last_ = *number;
      return last_;
    }
    core::ChunkRef chunk = lookup_(key);
    if (!chunk) return InternalError("Could not find sequence chunk " + std::to_string(key) + ".");
    last_ = static_cast<uint32_t>(chunks_.size());
    chunks_.push_back(std::move(chunk));
    if (!numbers_.empty()) {
      numbers_[key] = last_;
    } else if (chunks_.size() > kMaxSearched) {
      for (uint32_t i = 0; i <= last_; ++i) numbers_[chunks_[i]->key()] = i;
    }
    return last_;
  }

  std::vector<core::ChunkRef> Take() && { return std::move(chunks_); }

 private:
  static constexpr size_t kMaxSearched = 16;

  std::optional<uint32_t> Find(uint64_t key) const {
    if (numbers_.empty()) {
      for (uint32_t i = 0; i < chunks_.size(); ++i) {
        if (chunks_[i]->key() == key) return i;
      }
      return std::nullopt;
    }
    const auto it = numbers_.find(key);
    if (it == numbers_.end()) return std::nullopt;
    return it->second;
  }

  const ChunkLookup& lookup_;
  std::vector<core::ChunkRef> chunks_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // used once there are many
  uint32_t last_ = 0;
};

class ItemReader {
 public:
  explicit ItemReader(const ChunkLookup& lookup) : chunks_(lookup) {}

  // False: malformed, or error() says what is wrong.
  bool Read(Cursor item) {
    return ReadMessage(&item, [&](uint32_t field, WireType type) {
      switch (field) {
        case 1:
          return type == WireType::kVarint && item.ReadVarint(&result_.item.key);
        case 2:
          return type == WireType::kDelimited && ReadTable(&item);
        case 5:
          return type == WireType::kFixed64 && item.ReadDouble(&result_.item.priority);
        case 6:
          return type == WireType::kVarint && item.ReadInt32(&result_.item.times_sampled);
        case 7: {
          Cursor timestamp;
          return type == WireType::kDelimited && item.ReadDelimited(&timestamp) &&
                 ReadTimestamp(timestamp);
        }
        case 8: {
          Cursor trajectory;
          return type == WireType::kDelimited && item.ReadDelimited(&trajectory) &&
                 ReadTrajectory(trajectory);
        }
        default:
          return item.SkipValue(type);
      }
    });
  }

  const Status& error() const { return error_; }

  Result<ParsedItem> Finish() && {
    const int32_t times_sampled = result_.item.times_sampled;
    if (times_sampled < 0 || times_sampled > kMaxTimesSampled) {
      return InvalidArgumentError("times_sampled is " + std::to_string(times_sampled) +
                                  "; expected 0 to " + std::to_string(kMaxTimesSampled));
    }
    Result<core::TrajectoryRef> trajectory =
        core::Trajectory::Create(std::move(chunks_).Take(), columns_, slices_);
    if (!trajectory.ok()) return trajectory.status();
    result_.item.trajectory = *std::move(trajectory);
    return std::move(result_);
  }

  uint64_t key() const { return result_.item.key; }

 private:
  bool ReadTable(Cursor* item) {
    Cursor name;
    if (!item->ReadDelimited(&name)) return false;
    result_.table.resize(name.remaining());
    if (!name.Copy(result_.table.data(), result_.table.size())) return false;
    if (IsUtf8(result_.table)) return true;
    error_ = InvalidArgumentError("the table's name is not valid UTF-8");
    return false;
  }

  bool ReadTimestamp(Cursor timestamp) {
    int64_t seconds = 0;
    int32_t nanos = 0;
    if (!ReadMessage(&timestamp, [&](uint32_t field, WireType type) {
          switch (field) {
            case 1:
              return type == WireType::kVarint && timestamp.ReadInt64(&seconds);
            case 2:
              return type == WireType::kVarint && timestamp.ReadInt32(&nanos);
            default:
              return timestamp.SkipValue(type);
          }
        })) {
      return false;
    }
    // A time that nanoseconds cannot count (before 1970, after 2262) is as good as none.
    int64_t total;
    if (seconds < 0 || nanos < 0 || __builtin_mul_overflow(seconds, int64_t{1000000000}, &total) ||
        __builtin_add_overflow(total, int64_t{nanos}, &total)) {
      total = 0;
    }
    result_.inserted_at_nanos = total;
    return true;
  }

  bool ReadTrajectory(Cursor trajectory) {
    return ReadMessage(&trajectory, [&](uint32_t field, WireType type) {
      if (field != 1) return trajectory.SkipValue(type);
      Cursor column;
      return type == WireType::kDelimited && trajectory.ReadDelimited(&column) &&
             ReadColumn(column);
    });
  }

  bool ReadColumn(Cursor column) {
    core::Column result{};
    result.first_slice = static_cast<uint32_t>(slices_.size());
    const bool ok = ReadMessage(&column, [&](uint32_t field, WireType type) {
      switch (field) {
        case 1: {
          Cursor slice;
          return type == WireType::kDelimited && column.ReadDelimited(&slice) && ReadSlice(slice);
        }
        case 2:
          return type == WireType::kVarint && column.ReadBool(&result.squeeze);
        default:
          return column.SkipValue(type);
      }
    });
    result.num_slices = static_cast<uint32_t>(slices_.size()) - result.first_slice;
    columns_.push_back(result);
    return ok;
  }

  bool ReadSlice(Cursor slice) {
    uint64_t key = 0;
    core::ChunkSlice result{};
    if (!ReadMessage(&slice, [&](uint32_t field, WireType type) {
          if (field > 4) return slice.SkipValue(type);
          if (type != WireType::kVarint) return false;
          switch (field) {
            case 1:
              return slice.ReadVarint(&key);
            case 2:
              return slice.ReadInt32(&result.offset);
            case 3:
              return slice.ReadInt32(&result.length);
            default:
              return slice.ReadInt32(&result.tensor);
          }
        })) {
      return false;
    }
    Result<uint32_t> number = chunks_.Get(key);
    if (!number.ok()) {
      error_ = number.status();
      return false;
    }
    result.chunk = *number;
    slices_.push_back(result);
    return true;
  }

  ParsedItem result_;
  ChunkNumbers chunks_;
  std::vector<core::Column> columns_;
  std::vector<core::ChunkSlice> slices_;
  Status error_;
};

}  // namespace

Result<ParsedItem> ParseItem(Cursor serialized, const ChunkLookup& lookup) {
  ItemReader reader(lookup);
  if (!reader.Read(serialized)) {
    if (!reader.error().ok()) return reader.error();
    return InvalidArgumentError("An item is malformed or cut off: not a PrioritizedItem message");
  }
  const uint64_t key = reader.key();
  Result<ParsedItem> item = std::move(reader).Finish();
  if (!item.ok()) return item.status().WithContext("Item " + std::to_string(key));
  return item;
}

}  // namespace reverb_tf::wire

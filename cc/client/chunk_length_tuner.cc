#include "cc/client/chunk_length_tuner.h"

#include <algorithm>
#include <cmath>

namespace reverb_tf::client {
namespace {

constexpr int64_t kItems = 10;  // for one decision
constexpr int64_t kChunks = 5;
// Chunks of another length are still too common to judge the present one.
constexpr double kSettled = 0.25;

}  // namespace

void ChunkLengthTuner::SetMaxLength(int32_t max_length) {
  max_length_ = std::max<int32_t>(max_length, 1);
  length_ = std::min(length_, max_length_);
}

void ChunkLengthTuner::AddChunk(int64_t rows, size_t bytes) {
  chunk_length_.Add(static_cast<double>(rows));
  chunk_cost_.Add(static_cast<double>(bytes) / static_cast<double>(rows));
}

void ChunkLengthTuner::AddItem(int64_t rows, int64_t chunks, int64_t chunk_rows,
                               size_t chunk_bytes) {
  item_length_.Add(static_cast<double>(chunk_rows) / static_cast<double>(chunks));
  item_cost_.Add(static_cast<double>(chunk_bytes) / static_cast<double>(rows));
  if (item_cost_.count() >= kItems && chunk_cost_.count() >= kChunks) Decide();
}

void ChunkLengthTuner::Decide() {
  Score score;
  score.cost = chunk_cost_.value() + item_cost_.value();
  score.length = (chunk_length_.sum() + item_length_.sum()) /
                 static_cast<double>(chunk_length_.count() + item_length_.count());
  chunk_cost_ = chunk_length_ = item_cost_ = item_length_ = Mean();
  int32_t next = length_;
  if (!last_) {
    next += 2;
  } else if (std::abs(score.length - length_) > kSettled) {
    return;
  } else if ((score.cost < last_->cost) == (score.length > last_->length)) {
    next += 2;
  } else {
    next -= 1;
  }
  next = std::clamp<int32_t>(next, 1, max_length_);
  if (next == length_ && last_) return;
  length_ = next;
  last_ = score;
}

}  // namespace reverb_tf::client

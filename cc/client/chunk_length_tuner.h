// Finds a good number of rows for chunks.
#ifndef REVERB_TF_CLIENT_CHUNK_LENGTH_TUNER_H_
#define REVERB_TF_CLIENT_CHUNK_LENGTH_TUNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace reverb_tf::client {

// Long chunks cost fewer bytes a row (headers, compression); short ones cost items fewer rows that
// they do not need. Starts at 1 and climbs: after every ten items and five chunks it compares their
// costs with those before its last change, and goes on in the direction that paid. One for all
// columns of a writer, so that they stay in step and share chunks. Not thread-safe.
class ChunkLengthTuner {
 public:
  // Rows that a chunk should have, >= 1; columns that keep fewer rows have shorter chunks.
  int32_t length() const { return length_; }

  // `max_length`: the most rows that any column keeps.
  void SetMaxLength(int32_t max_length);

  // A chunk was made.
  void AddChunk(int64_t rows, size_t bytes);
  // An item was made of so many rows, in so many chunks, which have so many rows and bytes in all.
  void AddItem(int64_t rows, int64_t chunks, int64_t chunk_rows, size_t chunk_bytes);

 private:
  struct Score {
    double cost = 0;    // bytes a row of chunks + bytes a row of items
    double length = 0;  // rows a chunk, average
  };
  // Means over what was added since the last decision.
  class Mean {
   public:
    void Add(double value) {
      sum_ += value;
      ++count_;
    }
    double value() const { return count_ == 0 ? 0 : sum_ / count_; }
    double sum() const { return sum_; }
    int64_t count() const { return count_; }

   private:
    double sum_ = 0;
    int64_t count_ = 0;
  };

  void Decide();

  int32_t length_ = 1;
  int32_t max_length_ = 1;
  Mean chunk_cost_, chunk_length_;
  Mean item_cost_, item_length_;
  std::optional<Score> last_;  // at the last change
};

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_CHUNK_LENGTH_TUNER_H_

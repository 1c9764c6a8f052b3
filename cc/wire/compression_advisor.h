// Finds out whether a column is worth compressing.
#ifndef REVERB_TF_WIRE_COMPRESSION_ADVISOR_H_
#define REVERB_TF_WIRE_COMPRESSION_ADVISOR_H_

#include <cstddef>

namespace reverb_tf::wire {

// Learns from a column's first chunks, and from another one now and then. One for each column; not
// thread-safe.
class CompressionAdvisor {
 public:
  // False: frame the bytes as one snappy literal, without trying.
  bool ShouldCompress();
  // What a try gave.
  void Report(size_t raw_bytes, size_t compressed_bytes);

 private:
  int tries_left_ = 3;
  int skip_left_ = 0;
  bool compresses_ = false;
};

}  // namespace reverb_tf::wire

#endif  // REVERB_TF_WIRE_COMPRESSION_ADVISOR_H_

#include "cc/wire/compression_advisor.h"

namespace reverb_tf::wire {
namespace {

// Chunks that are framed as literals between two tries.
constexpr int kSkip = 100;

}  // namespace

bool CompressionAdvisor::ShouldCompress() {
  if (compresses_ || tries_left_ > 0) return true;
  if (skip_left_ == 0) return true;
  --skip_left_;
  return false;
}

void CompressionAdvisor::Report(size_t raw_bytes, size_t compressed_bytes) {
  // Saving less than a tenth is not worth the time.
  compresses_ = compressed_bytes < raw_bytes - raw_bytes / 10;
  if (compresses_) return;
  if (tries_left_ > 0) --tries_left_;
  if (tries_left_ == 0) skip_left_ = kSkip;
}

}  // namespace reverb_tf::wire

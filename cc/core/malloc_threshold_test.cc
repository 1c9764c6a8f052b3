#include "cc/core/malloc_threshold.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace reverb_tf::core {
namespace {

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// Bytes of the blocks that malloc has mapped for themselves, after one of `size` more.
size_t MappedBytesWith(size_t size) {
  void* volatile block = std::malloc(size);
  const size_t mapped = mallinfo2().hblkhd;
  std::free(block);
  return mapped;
}

TEST(KeepFreedMemoryTest, LargeBlocksComeFromTheHeap) {
  constexpr size_t kSize = size_t{8} << 20;
  const size_t before = mallinfo2().hblkhd;
  KeepFreedMemory();
  EXPECT_EQ(MappedBytesWith(kSize), before);
  // 8 MiB are below the limit now, so that they stay in the heap when they are free.
  EXPECT_GE(mallinfo2().fordblks, kSize);
}

#endif

}  // namespace
}  // namespace reverb_tf::core

#include "cc/core/buffer_pool.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reverb_tf::core {
namespace {

constexpr size_t kMin = BufferPool::kMinSize;

TEST(BufferPoolTest, AllocatedSizeHoldsTheSizeAndWastesAtMostAnEighth) {
  for (size_t size = kMin; size < (size_t{3} << 30); size += size / 7 + 1) {
    const size_t allocated = BufferPool::AllocatedSize(size);
    EXPECT_GE(allocated, size);
    EXPECT_LE(allocated, size + size / 8 + 1) << size;
    EXPECT_EQ(BufferPool::AllocatedSize(allocated), allocated) << size;
  }
  EXPECT_EQ(BufferPool::AllocatedSize(kMin - 1), kMin - 1);
}

TEST(BufferPoolTest, AFreedBufferIsUsedAgainForItsClassOnly) {
  BufferPool pool;
  void* const first = pool.Allocate(400000);
  pool.Free(first, 400000);
  EXPECT_EQ(pool.cached_bytes(), BufferPool::AllocatedSize(400000));
  void* const other = pool.Allocate(800000);
  EXPECT_NE(other, first);
  void* const again = pool.Allocate(400001);
  EXPECT_EQ(again, first);
  EXPECT_EQ(pool.cached_bytes(), 0u);
  pool.Free(again, 400001);
  pool.Free(other, 800000);
}

TEST(BufferPoolTest, SmallBuffersAreNotKept) {
  BufferPool pool;
  pool.Free(pool.Allocate(kMin - 1), kMin - 1);
  pool.Free(pool.Allocate(0), 0);
  EXPECT_EQ(pool.cached_bytes(), 0u);
}

TEST(BufferPoolTest, KeepsAtMostItsLimitAndFollowsWhatIsInUse) {
  BufferPool pool;
  const size_t large = size_t{16} << 20;
  const size_t n = BufferPool::kMaxCachedBytes / large + 4;
  std::vector<void*> buffers;
  for (size_t i = 0; i < n; ++i) buffers.push_back(pool.Allocate(large));
  for (void* buffer : buffers) pool.Free(buffer, large);
  EXPECT_EQ(pool.cached_bytes(), BufferPool::kMaxCachedBytes);
  // Another size takes the place of some of them.
  void* const small = pool.Allocate(kMin);
  pool.Free(small, kMin);
  EXPECT_LE(pool.cached_bytes(), BufferPool::kMaxCachedBytes);
  EXPECT_EQ(pool.Allocate(kMin), small);
  pool.Free(small, kMin);
  // More than the limit is never kept.
  const size_t huge = BufferPool::kMaxCachedBytes + 1;
  const size_t before = pool.cached_bytes();
  pool.Free(pool.Allocate(huge), huge);
  EXPECT_EQ(pool.cached_bytes(), before);
}

TEST(BufferPoolTest, ThreadsNeverShareABuffer) {
  BufferPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i) {
        const size_t size = kMin + static_cast<size_t>(i % 5) * 10000;
        auto* bytes = static_cast<unsigned char*>(pool.Allocate(size));
        bytes[0] = bytes[size - 1] = static_cast<unsigned char>(t);
        ASSERT_EQ(bytes[0], t);
        ASSERT_EQ(bytes[size - 1], t);
        pool.Free(bytes, size);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace reverb_tf::core

// Memory of large chunks, used again instead of going back to the kernel.
#ifndef REVERB_TF_CORE_BUFFER_POOL_H_
#define REVERB_TF_CORE_BUFFER_POOL_H_

#include <array>
#include <cstddef>
#include <vector>

#include "cc/core/mutex.h"

namespace reverb_tf::core {

// Malloc gives large blocks back to the kernel when they are freed, and each of their pages costs a
// fault when the next block is touched: more than the copy into it. This pool keeps some of them.
//
// Sizes fall into classes, eight for each doubling; a buffer has the size of its class. At most
// kMaxCachedBytes are kept; when a buffer comes back beyond that, buffers of the class that keeps
// the most go first, so that the pool follows what is in use now.
//
// Thread-safe. Blocks only for a short critical section; memory is never freed inside it.
class BufferPool {
 public:
  // Smaller buffers are left to malloc, which is good at them.
  static constexpr size_t kMinSize = size_t{64} << 10;
  static constexpr size_t kMaxCachedBytes = size_t{256} << 20;

  // Of this process; never destroyed.
  static BufferPool* Global();

  BufferPool() = default;
  // Frees what is kept.
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `size` bytes, aligned for every type. Ends the process when memory is exhausted.
  void* Allocate(size_t size);
  // A buffer from Allocate(size), with the same size.
  void Free(void* buffer, size_t size);

  size_t cached_bytes() const;

  // The size of the buffer that Allocate(size) gives.
  static size_t AllocatedSize(size_t size);

 private:
  static constexpr int kClassesPerDoubling = 8;
  static constexpr int kNumClasses = 16 * kClassesPerDoubling;  // up to 4 GiB

  static int ClassOf(size_t size);
  static size_t ClassSize(int size_class);

  // Takes buffers out until there is room for `bytes` more.
  void MakeRoom(size_t bytes, std::vector<void*>* removed) REQUIRES(mu_);

  mutable Mutex mu_;
  size_t cached_bytes_ GUARDED_BY(mu_) = 0;
  std::array<std::vector<void*>, kNumClasses> cached_ GUARDED_BY(mu_);
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_BUFFER_POOL_H_

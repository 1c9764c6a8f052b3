#include "cc/core/buffer_pool.h"

#include <new>

namespace reverb_tf::core {

BufferPool* BufferPool::Global() {
  static BufferPool* const pool = new BufferPool;
  return pool;
}

BufferPool::~BufferPool() {
  std::vector<void*> removed;
  {
    MutexLock lock(&mu_);
    MakeRoom(kMaxCachedBytes, &removed);
  }
  for (void* buffer : removed) ::operator delete(buffer);
}

// Class c of doubling d is (8 + c) eighths of kMinSize * 2^d.
int BufferPool::ClassOf(size_t size) {
  int size_class = 0;
  size_t base = kMinSize;
  while (size > 2 * base) {
    base *= 2;
    size_class += kClassesPerDoubling;
  }
  const size_t step = base / kClassesPerDoubling;
  if (size > base) size_class += static_cast<int>((size - base + step - 1) / step);
  return size_class;
}

size_t BufferPool::ClassSize(int size_class) {
  const size_t base = kMinSize << (size_class / kClassesPerDoubling);
  return base + base / kClassesPerDoubling * (size_class % kClassesPerDoubling);
}

size_t BufferPool::AllocatedSize(size_t size) {
  return size < kMinSize ? size : ClassSize(ClassOf(size));
}

void* BufferPool::Allocate(size_t size) {
  if (size < kMinSize) return ::operator new(size);
  const int size_class = ClassOf(size);
  {
    MutexLock lock(&mu_);
    std::vector<void*>& cached = cached_[size_class];
    if (!cached.empty()) {
      void* const buffer = cached.back();
      cached.pop_back();
      cached_bytes_ -= ClassSize(size_class);
      return buffer;
    }
  }
  return ::operator new(ClassSize(size_class));
}

void BufferPool::Free(void* buffer, size_t size) {
  if (size < kMinSize) {
    ::operator delete(buffer);
    return;
  }
  const int size_class = ClassOf(size);
  const size_t bytes = ClassSize(size_class);
  if (bytes > kMaxCachedBytes) {
    ::operator delete(buffer);
    return;
  }
  std::vector<void*> removed;
  {
    MutexLock lock(&mu_);
    MakeRoom(bytes, &removed);
    cached_[size_class].push_back(buffer);
    cached_bytes_ += bytes;
  }
  for (void* old : removed) ::operator delete(old);
}

void BufferPool::MakeRoom(size_t bytes, std::vector<void*>* removed) {
  while (cached_bytes_ + bytes > kMaxCachedBytes) {
    int largest = 0;
    size_t largest_bytes = 0;
    for (int i = 0; i < kNumClasses; ++i) {
      const size_t class_bytes = cached_[i].size() * ClassSize(i);
      if (class_bytes <= largest_bytes) continue;
      largest = i;
      largest_bytes = class_bytes;
    }
    if (largest_bytes == 0) return;
    removed->push_back(cached_[largest].back());
    cached_[largest].pop_back();
    cached_bytes_ -= ClassSize(largest);
  }
}

size_t BufferPool::cached_bytes() const {
  MutexLock lock(&mu_);
  return cached_bytes_;
}

}  // namespace reverb_tf::core

// Intrusive reference counts: one word in the object, no control block.
#ifndef REVERB_TF_CORE_REF_COUNTED_H_
#define REVERB_TF_CORE_REF_COUNTED_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace reverb_tf::core {

// Shared pointer to a T that has `void Ref() const` and `void Unref() const`, where Unref frees the
// object with the last reference. Distinct RefPtrs to one object may be used from distinct threads.
template <typename T>
class RefPtr {
 public:
  RefPtr() = default;
  RefPtr(std::nullptr_t) {}  // NOLINT: implicit by design
  // Takes over one reference that the caller owns.
  static RefPtr Adopt(T* object) {
    RefPtr result;
    result.object_ = object;
    return result;
  }
  RefPtr(const RefPtr& other) : object_(other.object_) {
    if (object_ != nullptr) object_->Ref();
  }
  RefPtr(RefPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  RefPtr& operator=(RefPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~RefPtr() {
    if (object_ != nullptr) object_->Unref();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const RefPtr& other) const { return object_ == other.object_; }
  bool operator!=(const RefPtr& other) const { return object_ != other.object_; }
  void reset() { *this = RefPtr(); }

 private:
  T* object_ = nullptr;
};

// The count itself, starting at one.
class RefCount {
 public:
  void Ref() const { count_.fetch_add(1, std::memory_order_relaxed); }
  // True for the last reference.
  bool Unref() const {
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  mutable std::atomic<uint32_t> count_{1};
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_REF_COUNTED_H_

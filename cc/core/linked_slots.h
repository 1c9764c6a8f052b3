// Slots in the order of their insertion: a doubly linked list in one array.
#ifndef REVERB_TF_CORE_LINKED_SLOTS_H_
#define REVERB_TF_CORE_LINKED_SLOTS_H_

#include <cstddef>
#include <vector>

#include "cc/core/selector.h"

namespace reverb_tf::core {

// Not thread-safe. Everything is O(1), growing amortised.
class LinkedSlots {
 public:
  inline static constexpr Slot kNone = 0xffffffff;  // the end of the list

  bool Contains(Slot slot) const {
    return slot < links_.size() && links_[slot].previous != kNotHeld;
  }
  // The slot must not be held.
  void Append(Slot slot) {
    if (slot >= links_.size()) links_.resize(size_t{slot} + 1, Link{kNotHeld, kNotHeld});
    links_[slot] = {newest_, kNone};
    (newest_ == kNone ? oldest_ : links_[newest_].next) = slot;
    newest_ = slot;
    ++size_;
  }
  // The slot must be held.
  void Remove(Slot slot) {
    const Link link = links_[slot];
    (link.previous == kNone ? oldest_ : links_[link.previous].next) = link.next;
    (link.next == kNone ? newest_ : links_[link.next].previous) = link.previous;
    links_[slot] = {kNotHeld, kNotHeld};
    --size_;
  }
  void Clear() {
    links_.clear();
    oldest_ = newest_ = kNone;
    size_ = 0;
  }

  Slot oldest() const { return oldest_; }  // kNone when empty
  Slot newest() const { return newest_; }
  size_t size() const { return size_; }
  size_t memory_bytes() const { return links_.capacity() * sizeof(Link); }

 private:
  inline static constexpr Slot kNotHeld = 0xfffffffe;
  struct Link {
    Slot previous;
    Slot next;
  };

  std::vector<Link> links_;  // by slot
  Slot oldest_ = kNone;
  Slot newest_ = kNone;
  size_t size_ = 0;
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_LINKED_SLOTS_H_

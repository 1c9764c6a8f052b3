#include "cc/core/sum_tree.h"

namespace reverb_tf::core {

void SumTree::Grow(size_t size) {
  if (size <= size_) return;
  size_ = size;
  for (int level = 0;; ++level) {
    size = (size + 7) / 8;
    std::vector<Node>& nodes = levels_[level];
    if (level == height_) {
      ++height_;
      nodes.resize(1);
      if (level > 0) nodes[0].values[0] = total_;  // of what was the top
    }
    if (size > nodes.size()) nodes.resize(size);
    if (nodes.size() == 1) return;
  }
}

void SumTree::Set(size_t i, double weight) {
  double value = weight;
  for (int level = 0; level < height_; ++level) {
    Node& node = levels_[level][i / 8];
    if (node.values[i % 8] == value) return;  // and so are all sums above
    node.values[i % 8] = value;
    value = node.Sum();
    i /= 8;
  }
  total_ = value;
}

size_t SumTree::Node::Choose(double* target) const {
  // Without branches, which could not be predicted: counts the sums that end at or before the
  // target.
  size_t child = 0;
  double sum = 0;
  double before = 0;  // the sum of the values before the child
  for (double value : values) {
    sum += value;
    const bool is_past = *target >= sum;
    child += is_past ? 1 : 0;
    before = is_past ? sum : before;
  }
  if (child == 8) return ChooseLast(target);
  *target -= before;
  return child;
}

size_t SumTree::Node::ChooseLast(double* target) const {
  size_t child = 7;
  while (child > 0 && values[child] == 0) --child;
  *target = values[child];
  return child;
}

void SumTree::FindMany(double* targets, size_t* found, size_t n) const {
  for (size_t j = 0; j < n; ++j) found[j] = 0;
  for (int level = height_; level-- > 0;) {
    const std::vector<Node>& nodes = levels_[level];
    for (size_t j = 0; j < n; ++j) {
      found[j] = found[j] * 8 + nodes[found[j]].Choose(&targets[j]);
      if (level > 0) __builtin_prefetch(&levels_[level - 1][found[j]]);
    }
  }
}

void SumTree::Clear() {
  size_ = 0;
  total_ = 0;
  height_ = 0;
  for (std::vector<Node>& level : levels_) level.clear();
}

size_t SumTree::memory_bytes() const {
  size_t bytes = 0;
  for (const std::vector<Node>& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

}  // namespace reverb_tf::core

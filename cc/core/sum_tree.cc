#include "cc/core/sum_tree.h"

namespace reverb_tf::core {

void SumTree::Append(double weight) {
  size_t node = size_ / 8;
  ++size_;
  for (int level = 0;; ++level) {
    std::vector<Node>& nodes = levels_[level];
    if (level == height_) {
      ++height_;
      nodes.resize(1);
      if (level > 0) nodes[0].values[0] = total_;  // of what was the top
    }
    if (node >= nodes.size()) nodes.resize(node + 1);
    if (nodes.size() == 1) break;
    node /= 8;
  }
  Set(size_ - 1, weight);
}

void SumTree::RemoveLast() {
  Set(size_ - 1, 0);
  --size_;
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
  size_t last = 0;  // of those with a weight
  for (size_t child = 0; child < 8; ++child) {
    const double value = values[child];
    if (*target < value) return child;
    *target -= value;
    if (value > 0) last = child;
  }
  // Rounding: the target was not below the sum of the children one by one.
  *target = values[last];
  return last;
}

size_t SumTree::Find(double target) const {
  size_t i = 0;
  for (int level = height_; level-- > 0;) i = i * 8 + levels_[level][i].Choose(&target);
  return i;
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

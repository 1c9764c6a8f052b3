// Weights with their sums, for drawing in proportion to weight.
#ifndef REVERB_TF_CORE_SUM_TREE_H_
#define REVERB_TF_CORE_SUM_TREE_H_

#include <array>
#include <cstddef>
#include <vector>

namespace reverb_tf::core {

// A tree whose nodes have eight children and are one cache line each; level 0 holds the weights.
// Each sum is computed anew from its eight terms whenever one of them changes, so that no error
// builds up: the tree is always, bit for bit, the one that would be built from the weights it
// holds. Not thread-safe. Growing is amortised O(1) a weight, the rest O(log8 n).
//
// Weights are >= 0 and such that their sum is finite.
class SumTree {
 public:
  size_t size() const { return size_; }
  double total() const { return total_; }
  double weight(size_t i) const { return levels_[0][i / 8].values[i % 8]; }

  // To at least `size` weights; new ones are zero.
  void Grow(size_t size);
  void Set(size_t i, double weight);
  // The i with  sum of weights before i <= target < that sum + weight(i), up to rounding. The
  // weight of i is never zero, whatever the rounding. 0 <= target; total() > 0.
  size_t Find(double target) const {
    size_t found;
    FindMany(&target, &found, 1);
    return found;
  }
  // The same for n targets, which are overwritten: the searches go down side by side, so that they
  // wait for memory together.
  void FindMany(double* targets, size_t* found, size_t n) const;
  // Begins to fetch weight(i) into the cache.
  void Prefetch(size_t i) const {
    if (i < size_) __builtin_prefetch(&levels_[0][i / 8], 1);
  }

  void Clear();  // O(1); keeps the memory
  size_t memory_bytes() const;

 private:
  struct alignas(64) Node {
    double values[8] = {};
    double Sum() const {
      return ((values[0] + values[4]) + (values[2] + values[6])) +
             ((values[1] + values[5]) + (values[3] + values[7]));
    }
    // Subtracts from `target` what lies before the child it returns.
    size_t Choose(double* target) const;
    // For a target that rounding has put beyond the sum of the values: the last with a weight.
    size_t ChooseLast(double* target) const;
  };

  inline static constexpr int kMaxHeight = 11;  // 8^11 weights

  size_t size_ = 0;
  double total_ = 0;
  int height_ = 0;  // levels in use; the last has one node
  std::array<std::vector<Node>, kMaxHeight>
      levels_;  // value i of a level: sum of node i of the level below
};

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_SUM_TREE_H_

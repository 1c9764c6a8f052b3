// Nested structures of Python containers, flattened the way dm-tree does.
//
// Containers: mappings (by sorted key), named tuples (by field), attrs classes (by attribute),
// lists, tuples and other collections.abc.Sequences (by position). Everything else is a leaf: None,
// arrays, str, bytes, memoryview, ...
#ifndef REVERB_TF_PYTHON_NEST_H_
#define REVERB_TF_PYTHON_NEST_H_

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

namespace reverb_tf::python {

namespace nb = nanobind;

enum class NodeKind : uint8_t { kLeaf, kMapping, kList, kTuple, kNamedTuple, kAttrs, kSequence };

// Makes exact instances of `type` leaves without further questions.
void RegisterLeafType(nb::handle type);

// May run Python code; throws what it raises.
NodeKind ClassifyNode(PyObject* object);

// One child of a container: what leads to it (key, field, or position) and the value.
struct Child {
  nb::object step;
  nb::object value;
};

// The children in flattening order. TypeError when the keys of a mapping cannot be sorted.
std::vector<Child> Children(PyObject* container, NodeKind kind);

// Calls `visit` with every leaf, in order.
void VisitLeaves(PyObject* nest, const std::function<void(PyObject*)>& visit);

// [leaf, ...]
nb::list Flatten(nb::handle nest);

// [(path, leaf), ...], where a path is a tuple of keys, fields and positions.
nb::list FlattenWithPath(nb::handle nest);

// The shape of a nest, without its leaves. Every leaf has a number, which is its position when
// flattened unless the owner says otherwise.
struct StructureNode {
  NodeKind kind = NodeKind::kLeaf;
  nb::object type;                // of the container
  std::vector<nb::object> steps;  // what leads to each child
  std::vector<StructureNode> children;
  std::vector<size_t>
      order;  // of a mapping: the children in the order of its keys, then any later ones
  int leaf = -1;
};

// Builds the node of `nest`; leaves are numbered by `next_leaf`, which is called with the path of
// each, in order.
using NumberLeaf = std::function<int(const std::vector<nb::object>& path)>;
StructureNode BuildStructure(PyObject* nest, std::vector<nb::object>* path,
                             const NumberLeaf& next_leaf);

// Puts leaves[node.leaf] in place of every leaf. `get` returns the value of a leaf.
nb::object Unflatten(const StructureNode& node, const std::function<nb::object(int)>& get);

// A structure seen once, to rebuild many nests from lists of leaves. Thread-safe (under the GIL).
class Structure {
 public:
  explicit Structure(nb::handle nest);

  int num_leaves() const { return num_leaves_; }

  // ValueError unless there are num_leaves() of them.
  nb::object Rebuild(const std::vector<nb::object>& leaves) const;

  const StructureNode& root() const { return root_; }

 private:
  StructureNode root_;
  int num_leaves_ = 0;
};

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_NEST_H_

#include "cc/python/append_schema.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

const char* KindName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kLeaf:
      return "a value";
    case NodeKind::kMapping:
      return "a dict";
    case NodeKind::kList:
      return "a list";
    case NodeKind::kTuple:
      return "a tuple";
    case NodeKind::kNamedTuple:
      return "a named tuple";
    case NodeKind::kAttrs:
      return "an attrs object";
    case NodeKind::kSequence:
      return "a sequence";
  }
  return "?";
}

bool Same(const nb::object& a, const nb::object& b) {
  if (a.ptr() == b.ptr()) return true;
  int equal = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (equal < 0) nb::raise_python_error();
  return equal == 1;
}

// The child of `node` that `step` leads to, or the number of children. `hint` is looked at first.
size_t FindChild(const StructureNode& node, const nb::object& step, size_t hint) {
  size_t n = node.steps.size();
  for (size_t k = 0; k < n; ++k) {
    size_t i = hint + k < n ? hint + k : hint + k - n;
    if (Same(node.steps[i], step)) return i;
  }
  return n;
}

bool Less(const nb::object& a, const nb::object& b) {
  int less = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_LT);
  if (less < 0) nb::raise_python_error();
  return less == 1;
}

void AddFlatOrder(const StructureNode& node, std::vector<int>* order) {
  if (node.kind == NodeKind::kLeaf) return order->push_back(node.leaf);
  std::vector<size_t> children(node.children.size());
  std::iota(children.begin(), children.end(), size_t{0});
  if (node.kind == NodeKind::kMapping) {  // keys that came later are at the end
    std::sort(children.begin(), children.end(),
              [&node](size_t a, size_t b) { return Less(node.steps[a], node.steps[b]); });
  }
  for (size_t i : children) AddFlatOrder(node.children[i], order);
}

bool HasFixedFields(NodeKind kind) {
  return kind == NodeKind::kNamedTuple || kind == NodeKind::kAttrs;
}

}  // namespace

std::vector<nb::object> AppendSchema::Path::Steps() const {
  std::vector<nb::object> steps;
  for (const Path* at = this; at->step != nullptr; at = at->parent) steps.push_back(*at->step);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string AppendSchema::Path::Text() const {
  nb::list steps;
  for (const nb::object& item : Steps()) steps.append(item);
  return ShortRepr(nb::tuple(steps).ptr());
}

std::vector<int> AppendSchema::FlatOrder() const {
  std::vector<int> order;
  if (has_root_) AddFlatOrder(root_, &order);
  return order;
}

void AppendSchema::RefuseKind(NodeKind was, NodeKind is, const Path& path) {
  bool leaf = was == NodeKind::kLeaf || is == NodeKind::kLeaf;
  ThrowPython(leaf ? PyExc_KeyError : PyExc_TypeError,
              "The structure of the data cannot change: " + path.Text() + " was " + KindName(was) +
                  " in an earlier step and is " + KindName(is) + " now.");
}

void AppendSchema::RefuseFields(const Path& path) {
  ThrowPython(PyExc_ValueError,
              "The fields of the named tuple at " + path.Text() + " cannot change.");
}

void AppendSchema::Match(PyObject* step, const LeafFunction& leaf,
                         const ColumnFunction& new_column) {
  Visit visit{leaf, new_column};
  Path path{nullptr, nullptr};
  if (!has_root_) {
    root_ = Build(step, path, visit);
    has_root_ = true;
  } else {
    MatchNode(&root_, step, path, visit);
  }
}

StructureNode AppendSchema::Build(PyObject* value, const Path& path, const Visit& visit) {
  int first = num_columns_;
  std::vector<std::vector<nb::object>> paths;
  std::vector<nb::object> steps = path.Steps();
  StructureNode node = BuildStructure(value, &steps, [&](const std::vector<nb::object>& leaf_path) {
    paths.push_back(leaf_path);
    return first + static_cast<int>(paths.size()) - 1;
  });
  for (size_t i = 0; i < paths.size(); ++i) {
    visit.new_column(first + static_cast<int>(i), paths[i]);
  }
  num_columns_ += static_cast<int>(paths.size());
  ++version_;
  int column = first;
  VisitLeaves(value, [&](PyObject* leaf) { visit.leaf(column++, leaf); });
  return node;
}

void AppendSchema::MatchNode(StructureNode* node, PyObject* value, const Path& path,
                             const Visit& visit) {
  NodeKind kind = ClassifyNode(value);
  if (kind != node->kind) RefuseKind(node->kind, kind, path);
  if (kind == NodeKind::kLeaf) return visit.leaf(node->leaf, value);
  bool plain = kind == NodeKind::kMapping && PyDict_CheckExact(value);
  if (plain && MatchKnownDict(node, value, path, visit)) return;
  MatchChildren(node, value, path, visit);
}

// The common case: a dict with exactly the fields that are known. False, before anything is done,
// if it is another one.
bool AppendSchema::MatchKnownDict(StructureNode* node, PyObject* value, const Path& path,
                                  const Visit& visit) {
  size_t n = node->children.size();
  if (static_cast<size_t>(PyDict_GET_SIZE(value)) != n) return false;
  std::vector<nb::object> children(n);
  for (size_t i = 0; i < n; ++i) {
    children[i] = nb::borrow(PyDict_GetItemWithError(value, node->steps[i].ptr()));
    if (children[i].is_valid()) continue;
    if (PyErr_Occurred() != nullptr) nb::raise_python_error();
    return false;
  }
  for (size_t i = 0; i < n; ++i) {
    MatchNode(&node->children[i], children[i].ptr(), Path{&path, &node->steps[i]}, visit);
  }
  return true;
}

void AppendSchema::MatchChildren(StructureNode* node, PyObject* value, const Path& path,
                                 const Visit& visit) {
  std::vector<Child> children = Children(value, node->kind);
  if (HasFixedFields(node->kind) && children.size() != node->children.size()) RefuseFields(path);
  size_t hint = 0;
  for (Child& child : children) {
    Path below{&path, &child.step};
    size_t i = FindChild(*node, child.step, hint);
    if (i < node->children.size()) {
      MatchNode(&node->children[i], child.value.ptr(), below, visit);
    } else if (HasFixedFields(node->kind)) {
      RefuseFields(path);
    } else {
      StructureNode added = Build(child.value.ptr(), below, visit);
      node->steps.push_back(child.step);
      node->children.push_back(std::move(added));
    }
    hint = i + 1 < node->children.size() ? i + 1 : 0;
  }
}

}  // namespace reverb_tf::python

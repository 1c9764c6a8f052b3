#include "cc/python/append_schema.h"

#include <string>
#include <utility>

#include "cc/python/errors.h"

namespace reverb_tf::python {
namespace {

std::string PathText(const std::vector<nb::object>& path) {
  nb::list steps;
  for (const nb::object& step : path) steps.append(step);
  return ShortRepr(nb::tuple(steps).ptr());
}

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

[[noreturn]] void RefuseKind(NodeKind was, NodeKind is, const std::vector<nb::object>& path) {
  PyObject* type =
      was == NodeKind::kLeaf || is == NodeKind::kLeaf ? PyExc_KeyError : PyExc_TypeError;
  ThrowPython(type, "The structure of the data cannot change: " + PathText(path) + " was " +
                        KindName(was) + " in an earlier step and is " + KindName(is) + " now.");
}

bool Same(const nb::object& a, const nb::object& b) {
  if (a.ptr() == b.ptr()) return true;
  int equal = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (equal < 0) nb::raise_python_error();
  return equal == 1;
}

}  // namespace

void AppendSchema::Match(PyObject* step, const LeafFunction& leaf,
                         const ColumnFunction& new_column) {
  Visit visit{leaf, new_column, {}};
  if (!has_root_) {
    root_ = Build(step, &visit);
    has_root_ = true;
  } else {
    MatchNode(&root_, step, &visit);
  }
}

StructureNode AppendSchema::Build(PyObject* value, Visit* visit) {
  int first = num_columns_;
  std::vector<std::vector<nb::object>> paths;
  StructureNode node =
      BuildStructure(value, &visit->path, [&](const std::vector<nb::object>& path) {
        paths.push_back(path);
        return first + static_cast<int>(paths.size()) - 1;
      });
  for (size_t i = 0; i < paths.size(); ++i)
    visit->new_column(first + static_cast<int>(i), paths[i]);
  num_columns_ += static_cast<int>(paths.size());
  ++version_;
  int column = first;
  VisitLeaves(value, [&](PyObject* leaf) { visit->leaf(column++, leaf); });
  return node;
}

void AppendSchema::MatchNode(StructureNode* node, PyObject* value, Visit* visit) {
  NodeKind kind = ClassifyNode(value);
  if (kind != node->kind) RefuseKind(node->kind, kind, visit->path);
  if (kind == NodeKind::kLeaf) return visit->leaf(node->leaf, value);
  if (kind == NodeKind::kMapping && PyDict_CheckExact(value) && MatchKnownDict(node, value, visit))
    return;
  MatchChildren(node, value, visit);
}

// The common case: a dict with exactly the fields that are known.
bool AppendSchema::MatchKnownDict(StructureNode* node, PyObject* value, Visit* visit) {
  size_t n = node->children.size();
  if (static_cast<size_t>(PyDict_GET_SIZE(value)) != n) return false;
  for (size_t i = 0; i < n; ++i) {
    int known = PyDict_Contains(value, node->steps[i].ptr());
    if (known < 0) nb::raise_python_error();
    if (known == 0) return false;
  }
  for (size_t i = 0; i < n; ++i) {
    nb::object child = nb::borrow(PyDict_GetItemWithError(value, node->steps[i].ptr()));
    if (!child.is_valid()) return false;
    visit->path.push_back(node->steps[i]);
    MatchNode(&node->children[i], child.ptr(), visit);
    visit->path.pop_back();
  }
  return true;
}

void AppendSchema::MatchChildren(StructureNode* node, PyObject* value, Visit* visit) {
  std::vector<Child> children = Children(value, node->kind);
  if ((node->kind == NodeKind::kNamedTuple || node->kind == NodeKind::kAttrs) &&
      children.size() != node->children.size()) {
    ThrowPython(PyExc_ValueError,
                "The fields of the named tuple at " + PathText(visit->path) + " cannot change.");
  }
  size_t hint = 0;
  for (Child& child : children) {
    size_t i = hint;
    while (i < node->steps.size() && !Same(node->steps[i], child.step)) ++i;
    if (i == node->steps.size()) {
      for (i = 0; i < hint && !Same(node->steps[i], child.step);) ++i;
      if (i == hint) i = node->steps.size();
    }
    if (i == node->steps.size()) {
      if (node->kind == NodeKind::kNamedTuple || node->kind == NodeKind::kAttrs) {
        ThrowPython(PyExc_ValueError, "The fields of the named tuple at " + PathText(visit->path) +
                                          " cannot change.");
      }
      Add(node, std::move(child.step), child.value.ptr(), visit);
      continue;
    }
    hint = i + 1;
    visit->path.push_back(node->steps[i]);
    MatchNode(&node->children[i], child.value.ptr(), visit);
    visit->path.pop_back();
  }
}

void AppendSchema::Add(StructureNode* parent, nb::object step, PyObject* value, Visit* visit) {
  visit->path.push_back(step);
  StructureNode child = Build(value, visit);
  visit->path.pop_back();
  parent->steps.push_back(std::move(step));
  parent->children.push_back(std::move(child));
}

}  // namespace reverb_tf::python

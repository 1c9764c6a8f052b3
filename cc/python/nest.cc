#include "cc/python/nest.h"

#include <array>
#include <cstdlib>
#include <string>

#include "cc/python/errors.h"
#include "cc/python/numpy_api.h"

namespace reverb_tf::python {
namespace {

std::array<PyTypeObject*, 4> leaf_types{};  // guarded by the GIL

bool IsRegisteredLeaf(PyObject* object) {
  for (PyTypeObject* type : leaf_types) {
    if (Py_TYPE(object) == type) return true;
  }
  return false;
}

bool IsInstance(PyObject* object, PyObject* type) {
  int result = PyObject_IsInstance(object, type);
  if (result < 0) nb::raise_python_error();
  return result == 1;
}

PyObject* AbstractBase(const char* name) {
  nb::object type = nb::module_::import_("collections.abc").attr(name);
  return type.release().ptr();
}

bool TypeHas(PyObject* object, PyObject* interned_name) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  nb::object value = nb::steal(PyObject_GetAttr(type, interned_name));
  if (!value.is_valid()) PyErr_Clear();
  return value.is_valid();
}

bool IsPlainLeaf(PyObject* object) {
  return object == Py_None || PyArray_Check(object) || PyFloat_Check(object) ||
         PyLong_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object) ||
         PyByteArray_Check(object) || PyMemoryView_Check(object) || PyComplex_Check(object) ||
         PyArray_CheckScalar(object);
}

NodeKind ClassifyOther(PyObject* object) {
  static PyObject* mapping = AbstractBase("Mapping");
  static PyObject* sequence = AbstractBase("Sequence");
  static PyObject* attrs = PyUnicode_InternFromString("__attrs_attrs__");
  if (IsInstance(object, mapping)) return NodeKind::kMapping;
  if (TypeHas(object, attrs)) return NodeKind::kAttrs;
  return IsInstance(object, sequence) ? NodeKind::kSequence : NodeKind::kLeaf;
}

std::vector<Child> MappingChildren(PyObject* container) {
  nb::object keys = nb::steal(PyMapping_Keys(container));
  if (!keys.is_valid()) nb::raise_python_error();
  nb::object sorted = nb::steal(PySequence_List(keys.ptr()));
  if (!sorted.is_valid()) nb::raise_python_error();
  if (PyList_Sort(sorted.ptr()) < 0) {
    nb::chain_error(PyExc_TypeError, "The keys of a nested dict must be sortable, got %s.",
                    ShortRepr(keys.ptr()).c_str());
    throw nb::python_error();
  }
  std::vector<Child> children;
  children.reserve(static_cast<size_t>(PyList_GET_SIZE(sorted.ptr())));
  for (nb::handle key : nb::borrow<nb::list>(sorted)) {
    nb::object value = nb::steal(PyObject_GetItem(container, key.ptr()));
    if (!value.is_valid()) nb::raise_python_error();
    children.push_back({nb::borrow(key), std::move(value)});
  }
  return children;
}

std::vector<Child> FieldChildren(PyObject* container, nb::handle names) {
  std::vector<Child> children;
  for (nb::handle name : names) {
    nb::object value = nb::steal(PyObject_GetAttr(container, name.ptr()));
    if (!value.is_valid()) nb::raise_python_error();
    children.push_back({nb::borrow(name), std::move(value)});
  }
  return children;
}

std::vector<Child> SequenceChildren(PyObject* container) {
  nb::object items = nb::steal(PySequence_Fast(container, "a sequence was expected"));
  if (!items.is_valid()) nb::raise_python_error();
  std::vector<Child> children;
  Py_ssize_t size = PySequence_Fast_GET_SIZE(items.ptr());
  children.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    children.push_back({nb::int_(i), nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i))});
  }
  return children;
}

class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while flattening a nested structure") != 0)
      nb::raise_python_error();
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

void FlattenWithPathInto(PyObject* nest, std::vector<nb::object>* path, nb::list* out) {
  NodeKind kind = ClassifyNode(nest);
  if (kind == NodeKind::kLeaf) {
    nb::list steps;
    for (const nb::object& step : *path) steps.append(step);
    out->append(nb::make_tuple(nb::tuple(steps), nb::borrow(nest)));
    return;
  }
  RecursionGuard guard;
  for (Child& child : Children(nest, kind)) {
    path->push_back(std::move(child.step));
    FlattenWithPathInto(child.value.ptr(), path, out);
    path->pop_back();
  }
}

// Where each key of `mapping`, in its own order, is in `sorted_keys`.
std::vector<size_t> KeyOrder(PyObject* mapping, const std::vector<nb::object>& sorted_keys) {
  nb::dict positions;
  for (size_t i = 0; i < sorted_keys.size(); ++i) positions[sorted_keys[i]] = i;
  nb::object keys = nb::steal(PyMapping_Keys(mapping));
  if (!keys.is_valid()) nb::raise_python_error();
  std::vector<size_t> order;
  for (nb::handle key : keys) order.push_back(nb::cast<size_t>(positions[key]));
  return order;
}

nb::object UnflattenMapping(const StructureNode& node, const std::function<nb::object(int)>& get) {
  nb::dict result;
  auto add = [&](size_t i) { result[node.steps[i]] = Unflatten(node.children[i], get); };
  for (size_t i : node.order) add(i);
  for (size_t i = node.order.size(); i < node.children.size(); ++i) add(i);
  nb::object built = std::move(result);
  if (node.type.ptr() == reinterpret_cast<PyObject*>(&PyDict_Type)) return built;
  nb::object converted = nb::steal(PyObject_CallOneArg(node.type.ptr(), built.ptr()));
  if (converted.is_valid()) return converted;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) nb::raise_python_error();
  PyErr_Clear();  // a class with another constructor, like defaultdict
  return built;
}

}  // namespace

void RegisterLeafType(nb::handle type) {
  for (PyTypeObject*& slot : leaf_types) {
    if (slot != nullptr) continue;
    slot = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
    return;
  }
  std::abort();
}

NodeKind ClassifyNode(PyObject* object) {
  static PyObject* fields = PyUnicode_InternFromString("_fields");
  if (PyDict_Check(object)) return NodeKind::kMapping;
  if (PyTuple_CheckExact(object)) return NodeKind::kTuple;
  if (PyList_Check(object)) return NodeKind::kList;
  if (IsPlainLeaf(object) || IsRegisteredLeaf(object)) return NodeKind::kLeaf;
  if (PyTuple_Check(object))
    return TypeHas(object, fields) ? NodeKind::kNamedTuple : NodeKind::kTuple;
  return ClassifyOther(object);
}

std::vector<Child> Children(PyObject* container, NodeKind kind) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(container));
  switch (kind) {
    case NodeKind::kLeaf:
      return {};
    case NodeKind::kMapping:
      return MappingChildren(container);
    case NodeKind::kNamedTuple:
      return FieldChildren(container, nb::handle(type).attr("_fields"));
    case NodeKind::kAttrs: {
      nb::list names;
      for (nb::handle attribute : nb::handle(type).attr("__attrs_attrs__"))
        names.append(attribute.attr("name"));
      return FieldChildren(container, names);
    }
    default:
      return SequenceChildren(container);
  }
}

void VisitLeaves(PyObject* nest, const std::function<void(PyObject*)>& visit) {
  NodeKind kind = ClassifyNode(nest);
  if (kind == NodeKind::kLeaf) return visit(nest);
  RecursionGuard guard;
  for (const Child& child : Children(nest, kind)) VisitLeaves(child.value.ptr(), visit);
}

nb::list Flatten(nb::handle nest) {
  nb::list leaves;
  VisitLeaves(nest.ptr(), [&leaves](PyObject* leaf) { leaves.append(nb::borrow(leaf)); });
  return leaves;
}

nb::list FlattenWithPath(nb::handle nest) {
  nb::list result;
  std::vector<nb::object> path;
  FlattenWithPathInto(nest.ptr(), &path, &result);
  return result;
}

StructureNode BuildStructure(PyObject* nest, std::vector<nb::object>* path,
                             const NumberLeaf& next_leaf) {
  StructureNode node;
  node.kind = ClassifyNode(nest);
  if (node.kind == NodeKind::kLeaf) {
    node.leaf = next_leaf(*path);
    return node;
  }
  RecursionGuard guard;
  node.type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(nest)));
  for (Child& child : Children(nest, node.kind)) {
    path->push_back(child.step);
    node.children.push_back(BuildStructure(child.value.ptr(), path, next_leaf));
    path->pop_back();
    node.steps.push_back(std::move(child.step));
  }
  if (node.kind == NodeKind::kMapping) node.order = KeyOrder(nest, node.steps);
  return node;
}

nb::object Unflatten(const StructureNode& node, const std::function<nb::object(int)>& get) {
  if (node.kind == NodeKind::kLeaf) return get(node.leaf);
  if (node.kind == NodeKind::kMapping) return UnflattenMapping(node, get);
  if (node.kind == NodeKind::kAttrs) {
    nb::dict fields;
    for (size_t i = 0; i < node.children.size(); ++i)
      fields[node.steps[i]] = Unflatten(node.children[i], get);
    return node.type(**fields);
  }
  nb::object items = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(node.children.size())));
  if (!items.is_valid()) nb::raise_python_error();
  for (size_t i = 0; i < node.children.size(); ++i) {
    PyTuple_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i),
                     Unflatten(node.children[i], get).release().ptr());
  }
  if (node.type.ptr() == reinterpret_cast<PyObject*>(&PyTuple_Type)) return items;
  nb::object built = nb::steal(node.kind == NodeKind::kNamedTuple
                                   ? PyObject_Call(node.type.ptr(), items.ptr(), nullptr)
                                   : PyObject_CallOneArg(node.type.ptr(), items.ptr()));
  if (!built.is_valid()) nb::raise_python_error();
  return built;
}

Structure::Structure(nb::handle nest) {
  std::vector<nb::object> path;
  root_ = BuildStructure(nest.ptr(), &path,
                         [this](const std::vector<nb::object>&) { return num_leaves_++; });
}

nb::object Structure::Rebuild(const std::vector<nb::object>& leaves) const {
  if (leaves.size() != static_cast<size_t>(num_leaves_)) {
    ThrowPython(PyExc_ValueError, "The structure has " + std::to_string(num_leaves_) +
                                      " leaves, but " + std::to_string(leaves.size()) +
                                      " values were given.");
  }
  return Unflatten(root_, [&leaves](int i) { return leaves[static_cast<size_t>(i)]; });
}

}  // namespace reverb_tf::python

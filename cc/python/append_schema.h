// The union of the structures of the steps that a writer has seen.
#ifndef REVERB_TF_PYTHON_APPEND_SCHEMA_H_
#define REVERB_TF_PYTHON_APPEND_SCHEMA_H_

#include <functional>
#include <string>
#include <vector>

#include "cc/python/nest.h"

namespace reverb_tf::python {

// Gives every leaf path a column number: those of the first step in flattening order, later ones at
// the end. Fields may be left out of a step, and new ones may come; a container never turns into a
// leaf or another kind of container. Needs the GIL.
class AppendSchema {
 public:
  using LeafFunction = std::function<void(int column, PyObject* value)>;
  using ColumnFunction = std::function<void(int column, const std::vector<nb::object>& path)>;

  // Calls leaf(column, value) for each leaf of `step`, and before that new_column(column, path) for
  // each column that it adds, in the order of their numbers; a column whose new_column() throws
  // does not come into being. KeyError: a leaf became a container or the other way round.
  // TypeError: a container changed its kind. ValueError: a named tuple changed its fields.
  void Match(PyObject* step, const LeafFunction& leaf, const ColumnFunction& new_column);

  // All columns in flattening order. TypeError when the keys of a mapping cannot be sorted.
  std::vector<int> FlatOrder() const;

  bool empty() const { return !has_root_; }
  int num_columns() const { return num_columns_; }
  // Changes whenever the structure grows.
  int version() const { return version_; }
  const StructureNode& root() const { return root_; }

 private:
  struct Visit {
    const LeafFunction& leaf;
    const ColumnFunction& new_column;
  };
  // The path to a node, without references of its own: only errors and new columns look at it.
  struct Path {
    const Path* parent;
    const nb::object* step;  // null at the root
    std::vector<nb::object> Steps() const;
    std::string Text() const;
  };

  [[noreturn]] static void RefuseKind(NodeKind was, NodeKind is, const Path& path);
  [[noreturn]] static void RefuseFields(const Path& path);

  void MatchNode(StructureNode* node, PyObject* value, const Path& path, const Visit& visit);
  bool MatchKnownDict(StructureNode* node, PyObject* value, const Path& path, const Visit& visit);
  void MatchChildren(StructureNode* node, PyObject* value, const Path& path, const Visit& visit);
  StructureNode Build(PyObject* value, const Path& path, const Visit& visit);

  StructureNode root_;
  bool has_root_ = false;
  int num_columns_ = 0;
  int version_ = 0;
};

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_APPEND_SCHEMA_H_

#include "cc/python/replay_sample.h"

#include <string>
#include <utility>

#include "cc/python/array_out.h"

namespace nb = nanobind;

namespace reverb_tf::python {

PyTypeObject* NamedTupleType(const char* module, const char* name) {
  nb::object type = nb::module_::import_(module).attr(name);
  return reinterpret_cast<PyTypeObject*>(type.release().ptr());
}

nb::object MakeNamedTuple(PyTypeObject* type, const nb::object& items) {
  nb::object arguments = nb::steal(PyTuple_Pack(1, items.ptr()));
  if (!arguments.is_valid()) nb::raise_python_error();
  nb::object result = nb::steal(PyTuple_Type.tp_new(type, arguments.ptr(), nullptr));
  if (!result.is_valid()) nb::raise_python_error();
  return result;
}

nb::object MakeInfo(const SampleInfo& info) {
  static PyTypeObject* type = NamedTupleType("reverb_tf.replay_sample", "SampleInfo");
  return MakeNamedTuple(type, nb::make_tuple(info.key, info.probability, info.table_size,
                                             info.priority, info.times_sampled));
}

nb::object MakeReplaySample(const nb::object& info, nb::object data) {
  static PyTypeObject* type = NamedTupleType("reverb_tf.replay_sample", "ReplaySample");
  return MakeNamedTuple(type, nb::make_tuple(info, std::move(data)));
}

std::vector<nb::object> ReadColumns(const Sample& sample) {
  std::vector<nb::object> columns;
  columns.reserve(static_cast<size_t>(sample.num_columns()));
  for (int i = 0; i < sample.num_columns(); ++i) columns.push_back(ReadColumn(sample, i));
  return columns;
}

nb::object Arrange(const std::vector<nb::object>& columns, const Structure* structure) {
  if (structure != nullptr) return structure->Rebuild(columns);
  nb::list list;
  for (const nb::object& column : columns) list.append(column);
  return list;
}

}  // namespace reverb_tf::python

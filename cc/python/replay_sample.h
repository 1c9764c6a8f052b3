// The named tuples that calls return.
#ifndef REVERB_TF_PYTHON_REPLAY_SAMPLE_H_
#define REVERB_TF_PYTHON_REPLAY_SAMPLE_H_

#include <nanobind/nanobind.h>

#include <vector>

#include "cc/python/nest.h"
#include "reverb_tf/sample.h"

namespace reverb_tf::python {

// A class of reverb_tf's module `module`. Lives as long as the process.
PyTypeObject* NamedTupleType(const char* module, const char* name);

// A named tuple of `items` (a tuple), without the constructor that it has in Python.
nanobind::object MakeNamedTuple(PyTypeObject* type, const nanobind::object& items);

// replay_sample.SampleInfo.
nanobind::object MakeInfo(const SampleInfo& info);

// replay_sample.ReplaySample.
nanobind::object MakeReplaySample(const nanobind::object& info, nanobind::object data);

// Every column decoded into an array.
std::vector<nanobind::object> ReadColumns(const Sample& sample);

// The columns as a list, or in the shape of `structure` if that is not null.
nanobind::object Arrange(const std::vector<nanobind::object>& columns, const Structure* structure);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_REPLAY_SAMPLE_H_

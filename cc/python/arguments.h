// Arguments of Python calls, converted or refused with a TypeError that says what was given.
#ifndef REVERB_TF_PYTHON_ARGUMENTS_H_
#define REVERB_TF_PYTHON_ARGUMENTS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace reverb_tf::python {

// A str; `name` names the argument in the error text.
std::string TextArgument(nanobind::handle value, const char* name);

// An integer from 0 to 2**64 - 1; numpy's integers count.
uint64_t KeyArgument(nanobind::handle value);

// As KeyArgument(), with the argument's name in the error text.
uint64_t Uint64Argument(nanobind::handle value, const char* name);

// An integer of 32 bits.
int32_t Int32Argument(nanobind::handle value, const char* name);

// A number.
double PriorityArgument(nanobind::handle value);

// One number for all of `count` items, or a sequence or array of rank 1 with one for each.
std::vector<double> PriorityArguments(nanobind::handle values, int64_t count);

}  // namespace reverb_tf::python

#endif  // REVERB_TF_PYTHON_ARGUMENTS_H_

#include "cc/python/sampler.h"

#include <string>

#include "cc/python/array_out.h"
#include "cc/python/errors.h"
#include "cc/python/process.h"
#include "cc/python/replay_sample.h"

namespace reverb_tf::python {
namespace {

constexpr int kNumInfoTensors = 5;

// The number of steps: the length of every column.
int64_t NumSteps(const std::vector<nb::object>& columns) {
  int64_t steps = -1;
  for (size_t i = 0; i < columns.size(); ++i) {
    auto* array = reinterpret_cast<PyArrayObject*>(columns[i].ptr());
    if (PyArray_NDIM(array) == 0) {
      ThrowPython(PyExc_TypeError, "The sample cannot be split into time steps: column " +
                                       std::to_string(i) +
                                       " is a scalar. Use emit_timesteps=False.");
    }
    int64_t length = PyArray_DIM(array, 0);
    if (steps >= 0 && length != steps) {
      ThrowPython(PyExc_ValueError, "The sample cannot be split into time steps: column " +
                                        std::to_string(i) + " has " + std::to_string(length) +
                                        " steps, earlier columns have " + std::to_string(steps) +
                                        ". Use emit_timesteps=False.");
    }
    steps = length;
  }
  return steps < 0 ? 0 : steps;
}

nb::object SplitSteps(const nb::object& info, const std::vector<nb::object>& columns,
                      const Structure* structure) {
  nb::list steps;
  int64_t num_steps = NumSteps(columns);
  std::vector<nb::object> rows(columns.size());
  for (int64_t i = 0; i < num_steps; ++i) {
    for (size_t c = 0; c < columns.size(); ++c) rows[c] = RowView(columns[c], i);
    steps.append(MakeReplaySample(info, Arrange(rows, structure)));
  }
  return steps;
}

template <typename T>
void AppendScalar(nb::list* list, DType dtype, T value) {
  nb::object array = NewArray(dtype, 0, nullptr);
  *static_cast<T*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()))) = value;
  list->append(std::move(array));
}

}  // namespace

NativeSampler::~NativeSampler() {
  if (sampler_ == nullptr) return;
  if (ForkedAfterUse()) {
    new std::shared_ptr<Sampler>(std::move(sampler_));  // leaked on purpose, see process.h
    return;
  }
  GilRelease release;
  sampler_.reset();
}

Sample NativeSampler::Wait(Duration timeout) {
  CheckProcess();
  std::shared_ptr<Sampler> sampler = sampler_;
  return ValueOrThrow(
      RunBlocking(timeout, [&](const WaitOptions& wait) { return sampler->Next(wait); }));
}

nb::object NativeSampler::Next(Duration timeout, bool timesteps, nb::handle structure) {
  const Structure* shape = structure.is_none() ? nullptr : &nb::cast<const Structure&>(structure);
  Sample sample = Wait(timeout);
  nb::object info = MakeInfo(sample.info());
  std::vector<nb::object> columns = ReadColumns(sample);
  return timesteps ? SplitSteps(info, columns, shape)
                   : MakeReplaySample(info, Arrange(columns, shape));
}

nb::list NativeSampler::NextTrajectory(Duration timeout) {
  Sample sample = Wait(timeout);
  const SampleInfo& info = sample.info();
  nb::list result;
  AppendScalar(&result, DType::kUint64, info.key);
  AppendScalar(&result, DType::kFloat64, info.probability);
  AppendScalar(&result, DType::kInt64, info.table_size);
  AppendScalar(&result, DType::kFloat64, info.priority);
  AppendScalar(&result, DType::kInt32, info.times_sampled);
  for (nb::object& column : ReadColumns(sample)) result.append(std::move(column));
  return result;
}

void NativeSampler::Close() {
  if (ForkedAfterUse()) return;
  GilRelease release;
  sampler_->Close();
}

void DefineSampler(nb::module_& m) {
  nb::class_<NativeSampler> type(m, "Sampler", "A stream of samples. Use Client.sample().");
  type.def(
          "next",
          [](NativeSampler& self, nb::handle timeout, bool timesteps, nb::handle structure) {
            return self.Next(TimeoutFromSeconds(timeout), timesteps, structure);
          },
          nb::arg("timeout").none(), nb::arg("emit_timesteps"), nb::arg("structure").none())
      .def("GetNextTrajectory",
           [](NativeSampler& self) { return self.NextTrajectory(kInfiniteDuration); })
      .def("close", &NativeSampler::Close);
  type.attr("NUM_INFO_TENSORS") = kNumInfoTensors;
}

}  // namespace reverb_tf::python

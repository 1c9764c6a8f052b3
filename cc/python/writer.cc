#include "cc/python/writer.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "cc/python/arguments.h"
#include "cc/python/errors.h"
#include "cc/python/gil.h"
#include "cc/python/nest.h"
#include "cc/python/process.h"
#include "cc/python/writer_handle.h"

namespace reverb_tf::python {
namespace {

// Views of the leaves of a nest, until the end of a call.
class LeafViews {
 public:
  LeafViews(nb::handle nest, ArrayViews* views) : views_(views) {
    views_->Clear();
    VisitLeaves(nest.ptr(), [this, nest](PyObject* leaf) {
      views_->Add(leaf, [this, nest] {
        nb::list leaves = FlattenWithPath(nest);
        return nb::object(leaves[static_cast<size_t>(views_->size())][0]);
      });
    });
  }
  ~LeafViews() { views_->Clear(); }
  LeafViews(const LeafViews&) = delete;
  LeafViews& operator=(const LeafViews&) = delete;

 private:
  ArrayViews* const views_;
};

}  // namespace

NativeStepWriter::~NativeStepWriter() {
  if (writer_ == nullptr) return;
  if (ForkedAfterUse()) {
    writer_.release();  // NOLINT: leaked on purpose, see process.h
    return;
  }
  GilRelease release;
  writer_.reset();
}

void NativeStepWriter::Append(nb::handle nest, nb::handle timeout) {
  Duration limit = TimeoutFromSeconds(timeout);
  WriterUse use(&busy_);
  LeafViews leaves(nest, views_.get());
  ThrowIfError(RunBlocking(limit, [this](const WaitOptions& wait) {
    return writer_->Append(views_->data(), views_->size(), wait);
  }));
}

void NativeStepWriter::AppendSequence(nb::handle nest, nb::handle timeout) {
  Duration limit = TimeoutFromSeconds(timeout);
  WriterUse use(&busy_);
  LeafViews leaves(nest, views_.get());
  ThrowIfError(RunBlocking(limit, [this](const WaitOptions& wait) {
    return writer_->AppendSequence(views_->data(), views_->size(), wait);
  }));
}

uint64_t NativeStepWriter::CreateItem(nb::handle table, int64_t num_timesteps, nb::handle priority,
                                      nb::handle timeout) {
  std::string name = TextArgument(table, "table");
  double value = PriorityArgument(priority);
  Duration limit = TimeoutFromSeconds(timeout);
  WriterUse use(&busy_);
  return ValueOrThrow(RunBlocking(limit, [&](const WaitOptions& wait) {
    return writer_->CreateItem(name, num_timesteps, value, wait);
  }));
}

void NativeStepWriter::Flush(nb::handle timeout) {
  Duration limit = TimeoutFromSeconds(timeout);
  WriterUse use(&busy_);
  ThrowIfError(
      RunBlocking(limit, [this](const WaitOptions& wait) { return writer_->Flush(wait); }));
}

void NativeStepWriter::Close(bool retry_on_unavailable, nb::handle timeout) {
  Duration limit = TimeoutFromSeconds(timeout);
  WriterUse use(&busy_);
  ThrowIfError(RunBlocking(
      limit, [&](const WaitOptions& wait) { return writer_->Close(retry_on_unavailable, wait); }));
}

std::string NativeStepWriter::Repr() const {
  return "Writer(chunk_length=" + std::to_string(options_.chunk_length) +
         ", max_timesteps=" + std::to_string(options_.max_timesteps) +
         ", delta_encoded=" + (options_.delta_encoded ? "True" : "False") +
         ", max_in_flight_items=" + std::to_string(options_.max_in_flight_items) + ")";
}

void DefineStepWriter(nb::module_& m) {
  nb::class_<NativeStepWriter>(m, "Writer",
                               "What a reverb_tf.Writer writes through. Use Client.writer().")
      .def("Append", &NativeStepWriter::Append, nb::arg("data").none(),
           nb::arg("timeout").none() = nb::none())
      .def("AppendSequence", &NativeStepWriter::AppendSequence, nb::arg("sequence").none(),
           nb::arg("timeout").none() = nb::none())
      .def("CreateItem", &NativeStepWriter::CreateItem, nb::arg("table"), nb::arg("num_timesteps"),
           nb::arg("priority"), nb::arg("timeout").none() = nb::none())
      .def("Flush", &NativeStepWriter::Flush, nb::arg("timeout").none() = nb::none())
      .def("Close", &NativeStepWriter::Close, nb::arg("retry_on_unavailable"),
           nb::arg("timeout").none() = nb::none())
      .def("__repr__", &NativeStepWriter::Repr);
}

}  // namespace reverb_tf::python

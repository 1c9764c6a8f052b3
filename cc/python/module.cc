// The extension module reverb_tf._reverb.
#define REVERB_TF_NUMPY_IMPORT
#include "cc/python/cell_ref.h"
#include "cc/python/checkpoint.h"
#include "cc/python/client.h"
#include "cc/python/column.h"
#include "cc/python/history.h"
#include "cc/python/native_writer.h"
#include "cc/python/nest.h"
#include "cc/python/numpy_api.h"
#include "cc/python/process.h"
#include "cc/python/sampler.h"
#include "cc/python/server.h"
#include "cc/python/structured_writer.h"
#include "cc/python/writer.h"
#include "cc/python/writer_core.h"

namespace reverb_tf::python {
namespace {

void ImportNumpy() {
  if (PyArray_ImportNumPyAPI() < 0) nb::raise_python_error();
}

void DefineNest(nb::module_& m) {
  m.def("flatten", &Flatten, nb::arg("nest").none(), "The leaves of a nest, as a list.");
  m.def("flatten_with_path", &FlattenWithPath, nb::arg("nest").none(),
        "[(path, leaf), ...] of a nest.");
  nb::class_<Structure>(m, "Structure", "The shape of a nest, without its leaves.")
      .def(nb::init<nb::handle>(), nb::arg("nest").none())
      .def("__len__", &Structure::num_leaves)
      .def(
          "rebuild",
          [](const Structure& self, nb::handle leaves) {
            std::vector<nb::object> values;
            for (nb::handle leaf : leaves) values.push_back(nb::borrow(leaf));
            return self.Rebuild(values);
          },
          nb::arg("leaves"),
          "A nest of this shape with the given leaves. ValueError if their number is wrong.");
}

}  // namespace
}  // namespace reverb_tf::python

NB_MODULE(_reverb, m) {
  using namespace reverb_tf::python;  // NOLINT
  nb::set_leak_warnings(false);       // objects may outlive the interpreter's last collection
  ImportNumpy();
  WatchForks();
  DefineNest(m);
  DefineCellRef(m);
  DefineColumn(m);
  DefineHistory(m);
  DefineNativeWriter(m);
  DefineWriterCore(m);
  DefineStructuredWriter(m);
  DefineStepWriter(m);
  DefineSampler(m);
  DefineClient(m);
  DefineTable(m);
  DefineServer(m);
  DefineCheckpointReader(m);
}

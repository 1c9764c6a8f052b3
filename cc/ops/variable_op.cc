// Registration of the ops that move variables: ReverbVariablePush, ReverbVariablePull.
#include <string>
#include <vector>

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::PartialTensorShape;
using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

absl::Status CheckScalars(InferenceContext* c, int num_inputs) {
  ShapeHandle unused;
  for (int i = 0; i < num_inputs; ++i) TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  return absl::OkStatus();
}

// The shapes in `attr`, of which there are `n`.
absl::Status GetShapes(InferenceContext* c, const char* attr, int n,
                       std::vector<ShapeHandle>* handles) {
  std::vector<PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(c->GetAttr(attr, &shapes));
  if (static_cast<int>(shapes.size()) != n) {
    return absl::InvalidArgumentError(std::string(attr) + " has " + std::to_string(shapes.size()) +
                                      " entries; expected one for each of the " +
                                      std::to_string(n) + " variables.");
  }
  handles->resize(shapes.size());
  for (int i = 0; i < n; ++i)
    TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shapes[i], &(*handles)[i]));
  return absl::OkStatus();
}

absl::Status PushShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(CheckScalars(c, 2));
  std::vector<ShapeHandle> shapes;
  TF_RETURN_IF_ERROR(GetShapes(c, "shapes", c->num_inputs() - 2, &shapes));
  ShapeHandle unused;
  for (size_t i = 0; i < shapes.size(); ++i)
    TF_RETURN_IF_ERROR(c->Merge(c->input(2 + static_cast<int>(i)), shapes[i], &unused));
  return absl::OkStatus();
}

absl::Status PullShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(CheckScalars(c, 3));
  std::vector<ShapeHandle> shapes;
  TF_RETURN_IF_ERROR(GetShapes(c, "output_shapes", c->num_outputs(), &shapes));
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, shapes[i]);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("ReverbVariablePush")
    .Input("handle: resource")
    .Input("table: string")
    .Input("values: T")
    .Attr("T: list(type) >= 1")
    .Attr("shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetShapeFn(PushShape)
    .Doc(R"doc(
Makes `values` what `table` holds, as one item of one step.

Done when the server has confirmed it: a pull that starts afterwards gets these values or newer ones. Holds no thread
while it waits and ends with CANCELLED at once when the step is cancelled, whether or not the item is inserted then.

handle: Handle of a client.
table: Name of the table, a scalar.
values: The variables.
shapes: What shapes they must have, partly known ones too.
)doc");

REGISTER_OP("ReverbVariablePull")
    .Input("handle: resource")
    .Input("table: string")
    .Input("timeout_ms: int64")
    .Output("values: Toutput_list")
    .Attr("Toutput_list: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetShapeFn(PullShape)
    .Doc(R"doc(
Returns the values that were pushed to `table` last, all of them of one push.

Waits while the table is empty; holds no thread meanwhile and ends with CANCELLED at once when the step is cancelled.

handle: Handle of a client.
table: Name of the table, a scalar.
timeout_ms: How long to wait in the table, a scalar, before DEADLINE_EXCEEDED; negative: without limit.
values: The variables.
Toutput_list: Their types.
output_shapes: Their shapes, partly known ones too; checked on arrival, before any output is made.
)doc");

}  // namespace reverb_tf::ops

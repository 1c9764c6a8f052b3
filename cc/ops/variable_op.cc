// Registration of the ops that move variables: ReverbVariablePush, ReverbVariablePull,
// ReverbVariablePullIfNewer.
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

// The outputs from `first_value` on are variables, those before it scalars.
absl::Status SetOutputs(InferenceContext* c, int first_value, std::vector<ShapeHandle>* shapes) {
  TF_RETURN_IF_ERROR(GetShapes(c, "output_shapes", c->num_outputs() - first_value, shapes));
  for (int i = 0; i < c->num_outputs(); ++i)
    c->set_output(i, i < first_value ? c->Scalar() : (*shapes)[i - first_value]);
  return absl::OkStatus();
}

absl::Status PullShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(CheckScalars(c, 4));
  std::vector<ShapeHandle> shapes;
  return SetOutputs(c, 1, &shapes);
}

absl::Status PullIfNewerShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(CheckScalars(c, 3));
  std::vector<ShapeHandle> shapes;
  TF_RETURN_IF_ERROR(SetOutputs(c, 2, &shapes));
  const int num_defaults = c->num_inputs() - 3;
  if (num_defaults != 0 && num_defaults != static_cast<int>(shapes.size())) {
    return absl::InvalidArgumentError("There are " + std::to_string(num_defaults) +
                                      " defaults; expected none or one for each of the " +
                                      std::to_string(shapes.size()) + " variables.");
  }
  tensorflow::DataTypeVector types;
  tensorflow::DataTypeVector default_types;
  TF_RETURN_IF_ERROR(c->GetAttr("Toutput_list", &types));
  TF_RETURN_IF_ERROR(c->GetAttr("Tdefaults", &default_types));
  if (num_defaults != 0 && default_types != types) {
    return absl::InvalidArgumentError(
        "The defaults have the types " + tensorflow::DataTypeVectorString(default_types) +
        "; expected " + tensorflow::DataTypeVectorString(types) + ".");
  }
  ShapeHandle unused;
  for (int i = 0; i < num_defaults; ++i)
    TF_RETURN_IF_ERROR(c->Merge(c->input(3 + i), shapes[i], &unused));
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
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
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
    .Input("min_version: int64")
    .Input("timeout_ms: int64")
    .Output("version: int64")
    .Output("values: Toutput_list")
    .Attr("Toutput_list: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(PullShape)
    .Doc(R"doc(
Returns the values that were pushed to `table` last, all of them of one push.

Waits while the table is empty or older than `min_version`; holds no thread meanwhile and ends with CANCELLED at once
when the step is cancelled.

handle: Handle of a client.
table: Name of the table, a scalar. It has one item.
min_version: The least version that is wanted, a scalar: the table's number of inserts. 0: any.
timeout_ms: How long to wait in the table, a scalar, before DEADLINE_EXCEEDED; negative: without limit.
version: Of the values; -1 from a server that does not count versions.
values: The variables.
Toutput_list: Their types.
output_shapes: Their shapes, partly known ones too; checked on arrival, before any output is made.
)doc");

REGISTER_OP("ReverbVariablePullIfNewer")
    .Input("handle: resource")
    .Input("table: string")
    .Input("version: int64")
    .Input("defaults: Tdefaults")
    .Output("new_version: int64")
    .Output("is_newer: bool")
    .Output("values: Toutput_list")
    .Attr("Toutput_list: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .Attr("Tdefaults: list(type) >= 0")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(PullIfNewerShape)
    .Doc(R"doc(
Returns the values that were pushed to `table` last, unless they are of `version`, without waiting for a push.

If the table has nothing but that version, or nothing at all, no values are sent. Ends with UNIMPLEMENTED for a server
that does not count versions.

handle: Handle of a client.
table: Name of the table, a scalar. It has one item.
version: The version that the caller has, a scalar; 0: none.
defaults: What to return if there is nothing newer; nothing at all: zeros, whose unknown dimensions are 0.
new_version: Of the values; `version` if there is nothing newer.
is_newer: Whether there is.
values: The variables.
Toutput_list: Their types, and those of the defaults.
output_shapes: Their shapes, partly known ones too; checked on arrival, before any output is made.
)doc");

}  // namespace reverb_tf::ops

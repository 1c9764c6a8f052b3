// Registration of the ops on a client: ReverbClient, ReverbClientSample, ReverbClientInsert,
// ReverbClientUpdatePriorities.
#include <vector>

#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::PartialTensorShape;
using ::tensorflow::shape_inference::DimensionHandle;
using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

// Inputs 0 and 1 of sample and update: a handle and the name of a table, which dm-reverb takes in
// any shape of one element.
absl::Status CheckHandleAndTable(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  const DimensionHandle names = c->NumElements(c->input(1));
  if (!c->ValueKnown(names) || c->Value(names) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("table must be one name, got shape " +
                                    c->DebugString(c->input(1)));
}

absl::Status SampleShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(CheckHandleAndTable(c));
  std::vector<PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(c->GetAttr("output_shapes", &shapes));
  const int num_data = c->num_outputs() - kNumInfoTensors;
  TF_RETURN_IF_ERROR(CheckNumShapes(static_cast<int>(shapes.size()), num_data));
  for (int i = 0; i < kNumInfoTensors; ++i) c->set_output(i, c->Scalar());
  for (int i = 0; i < num_data; ++i) {
    ShapeHandle shape = c->UnknownShape();
    if (!shapes.empty()) TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shapes[i], &shape));
    c->set_output(kNumInfoTensors + i, shape);
  }
  return absl::OkStatus();
}

absl::Status InsertShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  ShapeHandle tables;
  ShapeHandle priorities;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(c->num_inputs() - 2), 1, &tables));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(c->num_inputs() - 1), 1, &priorities));
  return c->Merge(tables, priorities, &unused);
}

}  // namespace

REGISTER_OP("ReverbClient")
    .Output("handle: resource")
    .Attr("server_address: string")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Creates a client of the server at `server_address`, without connecting to it.

server_address: host:port of the server.
container: Container that holds the client; the default one if empty.
shared_name: Clients with the same container and shared_name are one client. If empty, the client belongs to this op.
handle: Handle of the client, for the other ReverbClient ops.
)doc");

REGISTER_OP("ReverbClientSample")
    .Input("handle: resource")
    .Input("table: string")
    .Output("key: uint64")
    .Output("probability: double")
    .Output("table_size: int64")
    .Output("priority: double")
    .Output("times_sampled: int32")
    .Output("outputs: Toutput_list")
    .Attr("Toutput_list: list(type) >= 0")
    .Attr("output_shapes: list(shape) = []")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(SampleShape)
    .Doc(R"doc(
Samples one item from `table` and returns the first step of it.

Waits until the table's rate limiter allows a sample; holds no thread meanwhile and ends with CANCELLED at once when
the step is cancelled. Exactly one item is taken from the table.

handle: Handle of a client.
table: Name of the table, a scalar.
key: Key of the item.
probability: Probability with which the item was picked.
table_size: Number of items in the table when it was picked.
priority: Priority of the item.
times_sampled: How often the item has been sampled, this time included.
outputs: The first step of each column.
Toutput_list: Types of the columns.
output_shapes: Shapes of the columns of a step, partly known ones too; checked on arrival. Unknown if empty.
)doc");

REGISTER_OP("ReverbClientInsert")
    .Input("handle: resource")
    .Input("data: T")
    .Input("tables: string")
    .Input("priorities: double")
    .Attr("T: list(type) >= 0")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(InsertShape)
    .Doc(R"doc(
Inserts one step as an item of length one into each of `tables`.

Done when the server has confirmed all items: a sample that is taken afterwards sees them. Holds no thread while it
waits and ends with CANCELLED at once when the step is cancelled, whether or not the items are inserted then.

handle: Handle of a client.
data: The tensors of the step.
tables: Names of the tables, a vector.
priorities: Priority of the item in each table, a vector of the same length.
)doc");

REGISTER_OP("ReverbClientUpdatePriorities")
    .Input("handle: resource")
    .Input("table: string")
    .Input("keys: uint64")
    .Input("priorities: double")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    // The shapes of keys and priorities are left to the kernel: callers rely on its error being one
    // of the run, not of the construction.
    .SetShapeFn(CheckHandleAndTable)
    .Doc(R"doc(
Sets the priorities of items of `table`. Keys that are not in the table are ignored.

handle: Handle of a client.
table: Name of the table, a scalar.
keys: Keys of the items, a vector.
priorities: Their new priorities, a vector of the same length.
)doc");

}  // namespace reverb_tf::ops

// Registration of the ops on a client that dm-reverb does not have: ReverbClientSampleBatch,
// ReverbClientInsertBatch, ReverbClientDelete.
#include <vector>

#include "cc/ops/tf_convert.h"
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::PartialTensorShape;
using ::tensorflow::shape_inference::DimensionHandle;
using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

absl::Status CheckRank(InferenceContext* c, int input, int rank) {
  ShapeHandle unused;
  return c->WithRank(c->input(input), rank, &unused);
}

// The shape of an output whose samples have the shape `row`.
absl::Status OutputShape(InferenceContext* c, bool batched, ShapeHandle row, ShapeHandle* shape) {
  *shape = row;
  if (!batched) return absl::OkStatus();
  DimensionHandle num_samples;
  TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &num_samples));
  return c->Concatenate(c->Vector(num_samples), row, shape);
}

absl::Status SampleBatchShape(InferenceContext* c) {
  for (int i = 0; i < 3; ++i) TF_RETURN_IF_ERROR(CheckRank(c, i, 0));
  bool batched = true;
  std::vector<PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(c->GetAttr("batched", &batched));
  TF_RETURN_IF_ERROR(c->GetAttr("output_shapes", &shapes));
  const int num_data = c->num_outputs() - kNumInfoTensors;
  TF_RETURN_IF_ERROR(CheckNumShapes(static_cast<int>(shapes.size()), num_data));
  for (int i = 0; i < c->num_outputs(); ++i) {
    ShapeHandle row = c->UnknownShape();
    if (i < kNumInfoTensors) {
      row = c->Scalar();
    } else if (!shapes.empty()) {
      TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shapes[i - kNumInfoTensors], &row));
    }
    ShapeHandle shape;
    TF_RETURN_IF_ERROR(OutputShape(c, batched, row, &shape));
    c->set_output(i, shape);
  }
  return absl::OkStatus();
}

// The first axis of all data, of the priorities and of the keys is that of the items.
absl::Status InsertBatchShape(InferenceContext* c) {
  const int num_data = c->num_inputs() - 3;
  TF_RETURN_IF_ERROR(CheckRank(c, 0, 0));
  TF_RETURN_IF_ERROR(CheckRank(c, 1 + num_data, 0));
  ShapeHandle priorities;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(2 + num_data), 1, &priorities));
  DimensionHandle num_items = c->Dim(priorities, 0);
  for (int i = 0; i < num_data; ++i) {
    ShapeHandle rows;
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1 + i), 1, &rows));
    TF_RETURN_IF_ERROR(c->Merge(num_items, c->Dim(rows, 0), &num_items));
  }
  c->set_output(0, c->Vector(num_items));
  return absl::OkStatus();
}

absl::Status DeleteShape(InferenceContext* c) {
  TF_RETURN_IF_ERROR(CheckRank(c, 0, 0));
  TF_RETURN_IF_ERROR(CheckRank(c, 1, 0));
  TF_RETURN_IF_ERROR(CheckRank(c, 2, 1));
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("ReverbClientSampleBatch")
    .Input("handle: resource")
    .Input("table: string")
    .Input("num_samples: int64")
    .Output("key: uint64")
    .Output("probability: double")
    .Output("table_size: int64")
    .Output("priority: double")
    .Output("times_sampled: int32")
    .Output("outputs: Toutput_list")
    .Attr("Toutput_list: list(type) >= 0")
    .Attr("output_shapes: list(shape) = []")
    .Attr("timesteps: bool = false")
    .Attr("batched: bool = true")
    .SetIsStateful()
    .SetShapeFn(SampleBatchShape)
    .Doc(R"doc(
Samples items from `table` and returns their whole trajectories, or their first steps, as one batch.

Waits until the table's rate limiter has allowed all samples; holds no thread meanwhile and ends with CANCELLED at once
when the step is cancelled. Exactly `num_samples` items are taken from the table, fewer when it ends with an error. All
must have the same shapes.

handle: Handle of a client.
table: Name of the table, a scalar.
num_samples: How many items to sample, a scalar >= 1.
key: Keys of the items.
probability: Probability with which each item was picked.
table_size: Number of items in the table when it was picked.
priority: Priority of each item.
times_sampled: How often each item has been sampled, this time included.
outputs: The columns.
Toutput_list: Types of the columns.
output_shapes: Shapes of the columns of one sample, partly known ones too; checked on arrival. Unknown if empty.
timesteps: Whether only the first step of each item is returned, not all of them.
batched: Whether all outputs have the samples as their first axis. Without, `num_samples` must be 1.
)doc");

REGISTER_OP("ReverbClientInsertBatch")
    .Input("handle: resource")
    .Input("data: T")
    .Input("table: string")
    .Input("priorities: double")
    .Output("keys: uint64")
    .Attr("T: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(InsertBatchShape)
    .Doc(R"doc(
Inserts each row of a batch as an item of length one into `table`, in order.

Done when the server has confirmed all items: a sample that is taken afterwards sees them. Holds no thread while it
waits and ends with CANCELLED at once when the step is cancelled, whether or not the items are inserted then. Nothing is
inserted when the data or a priority does not fit the table.

handle: Handle of a client.
data: The tensors of the steps, with one row for each item.
table: Name of the table, a scalar.
priorities: Priority of each item, a vector.
keys: Key of each item, a vector.
)doc");

REGISTER_OP("ReverbClientDelete")
    .Input("handle: resource")
    .Input("table: string")
    .Input("keys: uint64")
    .Output("num_deleted: int64")
    .SetIsStateful()
    .SetShapeFn(DeleteShape)
    .Doc(R"doc(
Deletes items of `table`. Keys that are not in the table are ignored.

Holds no thread while it waits and ends with CANCELLED at once when the step is cancelled, whether or not the items are
deleted then.

handle: Handle of a client.
table: Name of the table, a scalar.
keys: Keys of the items, a vector.
num_deleted: How many of them were in the table, a scalar; -1 where the server, one of dm-reverb, does not tell.
)doc");

}  // namespace reverb_tf::ops

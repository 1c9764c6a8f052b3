// Registration of ReverbDataset.
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

absl::Status DatasetShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 1, &unused));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &unused));
  return tensorflow::shape_inference::ScalarShape(c);
}

}  // namespace

REGISTER_OP("ReverbDataset")
    .Input("server_address: string")
    .Input("table: string")
    .Input("beta: Tbeta")
    .Output("dataset: variant")
    .Attr("batch_size: int = -1")
    .Attr("drop_remainder: bool = false")
    .Attr("varying: {'error', 'pad', 'ragged'} = 'error'")
    .Attr("weights: {'none', 'batch', 'table'} = 'none'")
    .Attr("num_workers: int = 1")
    .Attr("max_in_flight: int = -1")
    .Attr("max_staleness_samples: int = -1")
    .Attr("max_staleness_us: int = -1")
    .Attr("max_samples_per_stream: int = -1")
    .Attr("rate_limiter_timeout_ms: int = -1")
    .Attr("max_samples: int = -1")
    .Attr("Tbeta: {double, resource} = DT_DOUBLE")
    .Attr("dtypes: list(type) >= 1")
    .Attr("shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetShapeFn(DatasetShape)
    .Doc(R"doc(
Creates a dataset of the items that are sampled from the tables `table` of one or many servers, whole
trajectories, in batches.

The components of an element are key, probability, table_size, priority and times_sampled, the data, the
weights if asked for, and with `varying` 'pad' the length of each component of the data. With a batch_size each
has one row for each trajectory. Data that `varying` makes ragged are two components: the steps of all
trajectories, and the int64 row splits. Nothing connects to a server before an iterator is created.

server_address: host:port of each server, a vector, or a scalar for one.
table: Name of the table, a scalar.
beta: Exponent of the importance weights, a scalar, or a float variable, which is read for each batch.
batch_size: Trajectories in a batch; -1: elements are single ones, without the axis of the batch.
drop_remainder: Whether a last batch that is not full is dropped.
varying: What becomes of data whose shape is not fully known. 'error': all in a batch have the same shape.
  'pad': they are padded with zeros to the largest of the batch. 'ragged': data whose first dimension is
  unknown are ragged.
weights: Whether there are importance weights, as float, and whether the largest of the batch or of the table
  is 1.
num_workers: Number of concurrent streams of each server.
max_in_flight: How many items may be requested from a server or buffered; -1: a default.
max_staleness_samples: How many of all servers may be, then; -1: no bound.
max_staleness_us: Items that were received longer ago are dropped, in microseconds; -1: never.
max_samples_per_stream: A stream is replaced after so many items; -1: a default.
rate_limiter_timeout_ms: The sequence ends when the rate limiters of all servers block for that long; -1: never.
max_samples: The sequence ends after so many items; -1: never.
dtypes: Types of the components of one trajectory: the info, then the data.
shapes: Shapes of the components of one trajectory.
)doc");

}  // namespace reverb_tf::ops

// Registration of the ops on a trajectory writer: ReverbTrajectoryWriter, ...Append, ...CreateItem,
// ...Flush, ...EndEpisode, ...Close.
#include <vector>

#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace reverb_tf::ops {
namespace {

using ::tensorflow::shape_inference::DimensionHandle;
using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

// The handle, and those that only order the op, are scalars. `mask` is what follows: one value, or
// one for each environment.
absl::Status CheckHandlesAndMask(InferenceContext* c, int* mask, ShapeHandle* mask_shape) {
  int num_order = 0;
  TF_RETURN_IF_ERROR(c->GetAttr("num_order", &num_order));
  ShapeHandle unused;
  for (int i = 0; i <= num_order; ++i) {
    TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  *mask = 1 + num_order;
  return c->WithRankAtMost(c->input(*mask), 1, mask_shape);
}

// Rank 0, or as the mask.
absl::Status CheckForEachEnvironment(InferenceContext* c, ShapeHandle mask, ShapeHandle values) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->WithRankAtMost(values, 1, &unused));
  if (!c->RankKnown(values) || c->Rank(values) == 0) return absl::OkStatus();
  return c->Merge(mask, values, &unused);
}

absl::Status AppendShape(InferenceContext* c) {
  int mask = 0;
  ShapeHandle mask_shape;
  TF_RETURN_IF_ERROR(CheckHandlesAndMask(c, &mask, &mask_shape));
  if (!c->RankKnown(mask_shape) || c->Rank(mask_shape) == 0) return absl::OkStatus();
  DimensionHandle environments = c->Dim(mask_shape, 0);
  for (int i = mask + 1; i < c->num_inputs(); ++i) {
    ShapeHandle data;
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(i), 1, &data));
    if (!c->RankKnown(data)) continue;
    TF_RETURN_IF_ERROR(c->Merge(environments, c->Dim(data, 0), &environments));
  }
  return absl::OkStatus();
}

absl::Status CreateItemShape(InferenceContext* c) {
  int mask = 0;
  ShapeHandle mask_shape;
  TF_RETURN_IF_ERROR(CheckHandlesAndMask(c, &mask, &mask_shape));
  TF_RETURN_IF_ERROR(CheckForEachEnvironment(c, mask_shape, c->input(mask + 1)));
  TF_RETURN_IF_ERROR(CheckForEachEnvironment(c, mask_shape, c->input(mask + 2)));
  std::vector<int> columns;
  TF_RETURN_IF_ERROR(c->GetAttr("columns", &columns));
  const ShapeHandle one_each = c->Vector(static_cast<int64_t>(columns.size()));
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(c->Merge(c->input(mask + 3), one_each, &unused));
  TF_RETURN_IF_ERROR(c->Merge(c->input(mask + 4), one_each, &unused));
  c->set_output(0, mask_shape);
  return absl::OkStatus();
}

absl::Status EndEpisodeShape(InferenceContext* c) {
  int mask = 0;
  ShapeHandle mask_shape;
  return CheckHandlesAndMask(c, &mask, &mask_shape);
}

absl::Status HandlesShape(InferenceContext* c) {
  ShapeHandle unused;
  for (int i = 0; i < c->num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("ReverbTrajectoryWriter")
    .Output("handle: resource")
    .Attr("server_address: string")
    .Attr("dtypes: list(type) >= 1")
    .Attr("shapes: list(shape) >= 1")
    .Attr("paths: list(string) >= 1")
    .Attr("batch_size: int = -1")
    .Attr("num_keep_alive_refs: int")
    .Attr("max_chunk_length: int = 0")
    .Attr("validate_items: bool = true")
    .Attr("patience: float = 60.0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Creates a trajectory writer to the server at `server_address`, without connecting to it.

Writes the steps of one environment, or of several that are stepped together, and items made of them. The ops on a
writer take turns in the order in which they start. They hold no thread while they wait.

server_address: host:port of the server.
dtypes: Types of the columns of a step.
shapes: Shapes of the columns of a step of one environment; partly known ones, too.
paths: What errors call the columns.
batch_size: Number of environments; -1: one, and nothing has an axis of environments.
num_keep_alive_refs: How many of the newest steps items can have.
max_chunk_length: Steps that are stored together; 0: found while writing.
validate_items: Items are checked against the signatures of the tables.
patience: Seconds for which a lost server is tried again before the writer fails for good.
container: Container that holds the writer; the default one if empty.
shared_name: Writers with the same container and shared_name are one writer. If empty, the writer belongs to this op.
handle: Handle of the writer, for the other ReverbTrajectoryWriter ops.
)doc");

REGISTER_OP("ReverbTrajectoryWriterAppend")
    .Input("handle: resource")
    .Input("order: num_order * resource")
    .Input("mask: bool")
    .Input("data: T")
    .Attr("num_order: int >= 0")
    .Attr("T: list(type) >= 0")
    .Attr("columns: list(int) >= 0")
    .Attr("partial: bool = false")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(AppendShape)
    .Doc(R"doc(
Appends a step to the episode of each environment that `mask` chooses.

handle: Handle of a trajectory writer.
order: Not used: automatic control dependencies put this op in order with others on these resources.
mask: Scalar, or for each environment.
data: Values of columns, with a leading axis of the environments if there is a batch size.
columns: The column of each of `data`. A step may lack some.
partial: The step stays open: the next append adds columns to it instead of starting another.
)doc");

REGISTER_OP("ReverbTrajectoryWriterCreateItem")
    .Input("handle: resource")
    .Input("order: num_order * resource")
    .Input("mask: bool")
    .Input("table: string")
    .Input("priority: double")
    .Input("starts: int64")
    .Input("stops: int64")
    .Output("keys: uint64")
    .Attr("num_order: int >= 0")
    .Attr("columns: list(int) >= 1")
    .Attr("squeeze: list(bool) >= 1")
    .Attr("short_episode: {'clip', 'error', 'skip'} = 'clip'")
    .Attr("timeout_ms: int >= -1 = -1")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(CreateItemShape)
    .Doc(R"doc(
Creates an item of the steps of the episode of each environment that `mask` chooses.

Does not wait for the items to arrive, but while too many of an environment are unconfirmed.

handle: Handle of a trajectory writer.
order: Not used: automatic control dependencies put this op in order with others on these resources.
mask: Scalar, or for each environment.
table: Name of the table; a scalar, or for each environment.
priority: Of the item; a scalar, or for each environment.
starts: For each column of the item its first step; negative numbers count from the end of the episode.
stops: Likewise the step after its last one; the largest int64 is the end of the episode.
keys: Of the items, with the shape of `mask`; 0 where there is none.
columns: For each column of the item the column of the writer.
squeeze: Whether a column of the item is the one step at its start, without a leading axis.
short_episode: What becomes of an item if the episode does not have all those steps: it gets those that are there, it
    is an error, or there is no item.
timeout_ms: Ends with DEADLINE_EXCEEDED after so long a wait, without any item; -1: never.
)doc");

REGISTER_OP("ReverbTrajectoryWriterFlush")
    .Input("handle: resource")
    .Input("order: num_order * resource")
    .Attr("num_order: int >= 0")
    .Attr("max_pending: int >= 0 = 0")
    .Attr("timeout_ms: int >= -1 = -1")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(HandlesShape)
    .Doc(R"doc(
Sends all items and waits until at most `max_pending` of each environment are unconfirmed.

Ends with CANCELLED at once when the step is cancelled; the items stay queued then.

handle: Handle of a trajectory writer.
order: Not used: automatic control dependencies put this op in order with others on these resources.
max_pending: How many may still be unconfirmed.
timeout_ms: Ends with DEADLINE_EXCEEDED after so long a wait; the items stay queued; -1: never.
)doc");

REGISTER_OP("ReverbTrajectoryWriterEndEpisode")
    .Input("handle: resource")
    .Input("order: num_order * resource")
    .Input("mask: bool")
    .Attr("num_order: int >= 0")
    .Attr("clear_buffers: bool = true")
    .Attr("timeout_ms: int >= -1 = -1")
    .SetIsStateful()
    .SetIsDistributedCommunication()  // so that UNAVAILABLE stays what it is
    .SetShapeFn(EndEpisodeShape)
    .Doc(R"doc(
Flushes the items of each environment that `mask` chooses, then begins a new episode of it.

handle: Handle of a trajectory writer.
order: Not used: automatic control dependencies put this op in order with others on these resources.
mask: Scalar, or for each environment.
clear_buffers: The steps so far cannot be referred to any more.
timeout_ms: Ends with DEADLINE_EXCEEDED after so long a wait, and no episode has ended; -1: never.
)doc");

REGISTER_OP("ReverbTrajectoryWriterClose")
    .Input("handle: resource")
    .Input("order: num_order * resource")
    .Attr("num_order: int >= 0")
    .SetIsStateful()
    .SetShapeFn(HandlesShape)
    .Doc(R"doc(
Ends the writer without flushing: later ops on it, and those that wait, end with CANCELLED.

handle: Handle of a trajectory writer.
order: Not used: automatic control dependencies put this op in order with others on these resources.
)doc");

}  // namespace reverb_tf::ops

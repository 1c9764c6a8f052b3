// Registration of ReverbTimestepDataset and ReverbTrajectoryDataset.
#include <string>

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
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
  return tensorflow::shape_inference::ScalarShape(c);
}

constexpr char kTimestepText[] =
    "Creates a dataset of the items that are sampled from `table`, one step of an item an element: "
    "the steps of an item follow one another.\n\n"
    "The components of an element are key, probability, table_size, priority and times_sampled "
    "(scalars) of the item, then the data of the step.";
constexpr char kTrajectoryText[] =
    "Creates a dataset of the items that are sampled from `table`, one whole trajectory an "
    "element.\n\n"
    "The components of an element are key, probability, table_size, priority and times_sampled "
    "(scalars), then the columns of the trajectory.";

std::string WithArguments(const std::string& text) {
  return text + R"doc( Nothing connects to the server before an iterator is created.

server_address: host:port of the server, a scalar.
table: Name of the table, a scalar.
max_in_flight_samples_per_worker: How many items a worker may have requested or buffered.
num_workers_per_iterator: Number of concurrent streams of an iterator; -1: one.
max_samples_per_stream: A stream is replaced after so many items; -1: a default.
rate_limiter_timeout_ms: The sequence ends when the table's rate limiter blocks for that long; -1: never.
max_samples: The sequence ends after so many items, and no more are taken from the table; -1: never.
dtypes: Types of the components.
shapes: Shapes of the components.
)doc";
}

}  // namespace

// Both ops have the same inputs, attributes and output.
#define REVERB_TF_REGISTER_SAMPLE_DATASET(op, text)        \
  REGISTER_OP(op)                                          \
      .Input("server_address: string")                     \
      .Input("table: string")                              \
      .Output("dataset: variant")                          \
      .Attr("max_in_flight_samples_per_worker: int = 100") \
      .Attr("num_workers_per_iterator: int = -1")          \
      .Attr("max_samples_per_stream: int = -1")            \
      .Attr("rate_limiter_timeout_ms: int = -1")           \
      .Attr("max_samples: int = -1")                       \
      .Attr("dtypes: list(type) >= 1")                     \
      .Attr("shapes: list(shape) >= 1")                    \
      .SetIsStateful()                                     \
      .SetShapeFn(DatasetShape)                            \
      .Doc(WithArguments(text))

REVERB_TF_REGISTER_SAMPLE_DATASET("ReverbTimestepDataset", kTimestepText);
REVERB_TF_REGISTER_SAMPLE_DATASET("ReverbTrajectoryDataset", kTrajectoryText);

#undef REVERB_TF_REGISTER_SAMPLE_DATASET

}  // namespace reverb_tf::ops

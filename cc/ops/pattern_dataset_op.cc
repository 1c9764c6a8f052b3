// Registration of ReverbPatternDataset.
#include "cc/ops/tf_version.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace reverb_tf::ops {

REGISTER_OP("ReverbPatternDataset")
    .Input("dataset: variant")
    .Input("other_arguments: Targuments")
    .Output("output_dataset: variant")
    .Attr("clear_after_episode: bool")
    .Attr("configs: list(string)")
    .Attr("is_end_of_episode: func")
    .Attr("Targuments: list(type) >= 0")
    .Attr("dtypes: list(type) >= 1")
    .Attr("shapes: list(shape) >= 1")
    .Attr("metadata: string = ''")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Creates a dataset of the trajectories that patterns make of the steps of a dataset.

After each step, each config whose conditions hold gives one trajectory, in the order of the configs.

dataset: The steps.
other_arguments: What `is_end_of_episode` captures.
clear_after_episode: Trajectories do not reach back into earlier episodes.
configs: Serialized deepmind.reverb.StructuredWriterConfig messages. Tables and priorities are not looked at.
is_end_of_episode: Takes the components of a step; returns one bool, whether the step is the last of its episode.
Targuments: Types of other_arguments.
dtypes: Types of the components.
shapes: Shapes of the components.
metadata: A serialized tensorflow.data.Metadata message.
)doc");

}  // namespace reverb_tf::ops

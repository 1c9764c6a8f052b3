"""Another path to the module reverb_tf.proto.checkpoint_pb2."""

import sys

from reverb_tf.proto import checkpoint_pb2

sys.modules[__name__] = checkpoint_pb2

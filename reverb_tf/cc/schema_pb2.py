"""Another path to the module reverb_tf.proto.schema_pb2."""

import sys

from reverb_tf.proto import schema_pb2

sys.modules[__name__] = schema_pb2

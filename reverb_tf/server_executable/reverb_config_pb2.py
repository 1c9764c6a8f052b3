"""Another path to the module reverb_tf.proto.reverb_config_pb2."""

import sys

from reverb_tf.proto import reverb_config_pb2

sys.modules[__name__] = reverb_config_pb2

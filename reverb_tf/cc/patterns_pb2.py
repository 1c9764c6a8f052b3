"""Another path to the module reverb_tf.proto.patterns_pb2."""

import sys

from reverb_tf.proto import patterns_pb2

sys.modules[__name__] = patterns_pb2

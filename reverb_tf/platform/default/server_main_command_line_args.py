"""The flags of the reverb_server command. Importing this defines them."""

from absl import flags
from google.protobuf import text_format

from reverb_tf.proto import reverb_config_pb2

_CONFIG = flags.DEFINE_string(
    "config",
    None,
    "What to serve: a ReverbServerConfig in text format, for example 'port: 8000 tables { ... }'.",
    required=True,
)
_HOST = flags.DEFINE_string(
    "host",
    "[::]",
    "Address to listen on; [::] is every interface, 127.0.0.1 this machine alone.",
)


def get_server_config_proto() -> reverb_config_pb2.ReverbServerConfig:
    """Parses --config; google.protobuf.text_format.ParseError names line and column of what is wrong."""
    return text_format.Parse(_CONFIG.value, reverb_config_pb2.ReverbServerConfig())


def get_host() -> str:
    """The address to listen on."""
    return _HOST.value

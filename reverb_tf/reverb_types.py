"""Types that several modules share."""

import dataclasses
from typing import TYPE_CHECKING, Any, Union

from reverb_tf import item_selectors

if TYPE_CHECKING:
    from reverb_tf.proto import schema_pb2

Fifo = item_selectors.FifoSelector
Heap = item_selectors.HeapSelector
Lifo = item_selectors.LifoSelector
Prioritized = item_selectors.PrioritizedSelector
Uniform = item_selectors.UniformSelector

SelectorType = Union[Fifo, Heap, Lifo, Prioritized, Uniform]  # noqa: UP007 (a name that typing tools can show)

# A nest of specs: dicts, lists, tuples and named tuples of reverb_tf.TensorSpec or tf.TensorSpec.
SpecNest = Any


@dataclasses.dataclass
class TableInfo:
    """Settings and counters of a table at one moment.

    Attributes:
      name: Of the table.
      sampler_options: KeyDistributionOptions message.
      remover_options: KeyDistributionOptions message.
      max_size: Items that the table holds at most.
      max_times_sampled: An item is removed after so many samples; < 1: never.
      rate_limiter_info: RateLimiterInfo message: the four numbers, and how many inserts and samples were made.
      signature: Nest of specs (of TensorFlow where that is in use), or None.
      current_size: Items now.
      num_episodes: Episodes that have steps in the table.
      num_deleted_episodes: Episodes whose last step has left the table.
      num_unique_samples: Items that were sampled at least once.
      table_worker_time: TableWorkerTime message; empty for servers of this package.
    """

    name: str
    sampler_options: "schema_pb2.KeyDistributionOptions"
    remover_options: "schema_pb2.KeyDistributionOptions"
    max_size: int
    max_times_sampled: int
    rate_limiter_info: "schema_pb2.RateLimiterInfo"
    signature: SpecNest | None
    current_size: int
    num_episodes: int
    num_deleted_episodes: int
    num_unique_samples: int
    table_worker_time: "schema_pb2.TableWorkerTime"

    @classmethod
    def from_serialized_proto(cls, proto_string: bytes) -> "TableInfo":
        """Parses a serialized deepmind.reverb.TableInfo message."""
        from reverb_tf import _signature
        from reverb_tf.proto import schema_pb2

        proto = schema_pb2.TableInfo.FromString(proto_string)
        signature = _signature.decode(proto.signature) if proto.HasField("signature") else None
        return cls(
            name=proto.name,
            sampler_options=proto.sampler_options,
            remover_options=proto.remover_options,
            max_size=proto.max_size,
            max_times_sampled=proto.max_times_sampled,
            rate_limiter_info=proto.rate_limiter_info,
            signature=signature,
            current_size=proto.current_size,
            num_episodes=proto.num_episodes,
            num_deleted_episodes=proto.num_deleted_episodes,
            num_unique_samples=proto.num_unique_samples,
            table_worker_time=proto.table_worker_time,
        )

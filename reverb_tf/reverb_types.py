"""Types that several modules share."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple, Union

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


class ItemInfo(NamedTuple):
    """What Client.list_items() tells about an item.

    Attributes:
      key: Identifies the item.
      priority: Of the item now.
      times_sampled: How often the item was sampled.
      age: Seconds since it was inserted.
      bytes: Of its chunks as the server stores them; chunks that it shares with other items count in full.
    """

    key: int
    priority: float
    times_sampled: int
    age: float
    bytes: int


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
      priority_min: Of all items; None, as for the next two, if there are none. (The three are of several moments where
        a table of more than 8192 items changes meanwhile.)
      priority_max: Of all items.
      priority_sum: Of all items.
      data_bytes: Of the chunks of each item as they are stored; shared ones count for each of them.
      memory_bytes: Of the table's indices and the like.
      samples_allowed: Samples that the rate limiter allows now, before the next insert; sys.maxsize: any number.
      inserts_allowed: Inserts that the rate limiter allows now, before the next sample; sys.maxsize: any number.
      waiting_samples: Requests for samples that wait for the rate limiter.
      waiting_inserts: Items that wait for the rate limiter.
      sample_state: samples_allowed as a sentence, with the numbers it comes from.
      insert_state: inserts_allowed as a sentence, with the numbers it comes from.
      version: Items that were ever inserted, also before resets and before what a checkpoint has brought back.

    The last twelve are None where a server does not say them (dm-reverb).
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
    priority_min: float | None = None
    priority_max: float | None = None
    priority_sum: float | None = None
    data_bytes: int | None = None
    memory_bytes: int | None = None
    samples_allowed: int | None = None
    inserts_allowed: int | None = None
    waiting_samples: int | None = None
    waiting_inserts: int | None = None
    sample_state: str | None = None
    insert_state: str | None = None
    version: int | None = None

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
            **{
                field: getattr(proto, field) if proto.HasField(field) else None
                for field in _OPTIONAL_FIELDS
            },
        )


_OPTIONAL_FIELDS = [field.name for field in dataclasses.fields(TableInfo) if field.default is None]

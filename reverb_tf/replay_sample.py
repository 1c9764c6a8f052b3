"""What sampling returns."""

from typing import Any, NamedTuple


class SampleInfo(NamedTuple):
    """How an item was sampled.

    Attributes:
      key: uint64 that identifies the item.
      probability: float64, with which the table's sampler picked it.
      table_size: int64, items in the table at that moment, this one included.
      priority: float64, of the item.
      times_sampled: int32, how often the item has been sampled, this time included.
    """

    key: Any
    probability: Any
    table_size: Any
    priority: Any
    times_sampled: Any

    @classmethod
    def tf_dtypes(cls) -> "SampleInfo":
        """The tf.DType of each field."""
        import tensorflow as tf

        return cls(tf.uint64, tf.float64, tf.int64, tf.float64, tf.int32)

    @classmethod
    def tf_shapes(cls) -> "SampleInfo":
        """The tf.TensorShape of each field: all are scalars."""
        import tensorflow as tf

        return cls(*(tf.TensorShape([]) for _ in cls._fields))

    @classmethod
    def zeros(cls) -> "SampleInfo":
        """The info of data that does not come from a table."""
        return cls(0, 0.0, 0, 0.0, 0)


class ReplaySample(NamedTuple):
    """An item, or one step of it: `info` is its SampleInfo, `data` a list or nest of arrays."""

    info: SampleInfo
    data: Any

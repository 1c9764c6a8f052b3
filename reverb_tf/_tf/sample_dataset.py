"""What the `tf.data` datasets of what is sampled from a table share."""

from typing import Any, ClassVar, TypeVar

import tree

from reverb_tf import replay_sample
from reverb_tf._tf import nest, op_library, signatures
from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("Each dataset of reverb_tf (TimestepDataset, TrajectoryDataset)")

_Dataset = TypeVar("_Dataset", bound="SampleDataset")


def _check_options(
    max_in_flight_samples_per_worker: int,
    num_workers_per_iterator: int,
    max_samples_per_stream: int,
    rate_limiter_timeout_ms: int,
    max_samples: int,
) -> None:
    if max_in_flight_samples_per_worker < 1:
        raise ValueError(
            f"max_in_flight_samples_per_worker ({max_in_flight_samples_per_worker}) must be an integer >= 1"
        )
    for name, value in (
        ("num_workers_per_iterator", num_workers_per_iterator),
        ("max_samples_per_stream", max_samples_per_stream),
        ("max_samples", max_samples),
    ):
        if value != -1 and value < 1:
            raise ValueError(f"{name} ({value}) must be an integer >= 1 or -1")
    if rate_limiter_timeout_ms < -1:
        raise ValueError(
            f"rate_limiter_timeout_ms ({rate_limiter_timeout_ms}) must be an integer >= -1"
        )


class SampleDataset(tf.compat.v1.data.Dataset):
    """Samples items from a table. What an element is, a subclass says with its op."""

    # Of the op's wrapper.
    _OP_NAME: ClassVar[str]

    def __init__(
        self,
        server_address: Any,
        table: Any,
        dtypes: Any,
        shapes: Any,
        max_in_flight_samples_per_worker: int,
        num_workers_per_iterator: int = -1,
        max_samples_per_stream: int = -1,
        rate_limiter_timeout_ms: int = -1,
        max_samples: int = -1,
    ):
        """Describes the dataset.

        Each worker of each iterator has up to `max_in_flight_samples_per_worker` items requested or buffered. They
        count as sampled, so for a queue or a prioritized table choose it small: what is buffered when an iterator is
        dropped is lost, and buffered items keep the priorities they were sampled with.

        The sequence ends when the data of `max_samples` items were returned or the rate limiter blocked for
        `rate_limiter_timeout_ms`. It ends with an error when the server cannot be reached, or stops.

        Args:
          server_address: `host:port` of the server; a string or a scalar string tensor.
          table: name of the table; a string or a scalar string tensor.
          dtypes: nest of the dtypes of the data of an element.
          shapes: nest like `dtypes` of the shapes of the data of an element; dimensions may be None.
          max_in_flight_samples_per_worker: how many items a worker may have requested or buffered, >= 1.
          num_workers_per_iterator: concurrent streams of an iterator; -1: one. With more than one, the order of the
            table's sampler is not kept.
          max_samples_per_stream: a stream is replaced after so many items; -1: a default.
          rate_limiter_timeout_ms: the sequence ends when the rate limiter blocks for so long; 0: as soon as it blocks;
            -1: never.
          max_samples: the sequence ends after so many items, and exactly so many are taken from the table; -1: never.

        Raises:
          ValueError: an option is out of range, or `dtypes` and `shapes` have different structures.
          TypeError: `dtypes` and `shapes` have different structures.
        """
        tree.assert_same_structure(dtypes, shapes, check_types=False)
        _check_options(
            max_in_flight_samples_per_worker,
            num_workers_per_iterator,
            max_samples_per_stream,
            rate_limiter_timeout_ms,
            max_samples,
        )
        self._server_address = server_address
        self._table = table
        dtypes = nest.lists_to_tuples(dtypes)
        shapes = nest.lists_to_tuples(shapes)
        self._element_spec = replay_sample.ReplaySample(
            info=replay_sample.SampleInfo(
                *(
                    tf.TensorSpec(shape, dtype)
                    for shape, dtype in zip(
                        replay_sample.SampleInfo.tf_shapes(),
                        replay_sample.SampleInfo.tf_dtypes(),
                        strict=True,
                    )
                )
            ),
            data=tree.map_structure(
                lambda dtype, shape: tf.TensorSpec(shape, dtype), dtypes, shapes, check_types=False
            ),
        )
        self._attributes = {
            "max_in_flight_samples_per_worker": max_in_flight_samples_per_worker,
            "num_workers_per_iterator": num_workers_per_iterator,
            "max_samples_per_stream": max_samples_per_stream,
            "rate_limiter_timeout_ms": rate_limiter_timeout_ms,
            "max_samples": max_samples,
        }
        super().__init__()

    @classmethod
    def from_table_signature(
        cls: type[_Dataset],
        server_address: str,
        table: str,
        max_in_flight_samples_per_worker: int,
        num_workers_per_iterator: int = -1,
        max_samples_per_stream: int = -1,
        rate_limiter_timeout_ms: int = -1,
        get_signature_timeout_secs: float | None = None,
        max_samples: int = -1,
    ) -> _Dataset:
        """Asks the server for the table's signature and describes the dataset with it.

        Args:
          server_address: `host:port` of the server.
          table: name of the table.
          max_in_flight_samples_per_worker: see `__init__`.
          num_workers_per_iterator: see `__init__`.
          max_samples_per_stream: see `__init__`.
          rate_limiter_timeout_ms: see `__init__`.
          get_signature_timeout_secs: how long to wait for the server; None: as long as a client tries to reach it.
          max_samples: see `__init__`.

        Returns:
          A dataset whose data have the structure, dtypes and shapes of the signature.

        Raises:
          DeadlineExceededError: the server did not answer in time.
          ValueError: the server has no such table, or the table has no signature.
        """
        signature = signatures.of_table(server_address, table, get_signature_timeout_secs)
        return cls(
            server_address=server_address,
            table=table,
            dtypes=tree.map_structure(lambda spec: tf.as_dtype(spec.dtype), signature),
            shapes=tree.map_structure(lambda spec: tf.TensorShape(spec.shape), signature),
            max_in_flight_samples_per_worker=max_in_flight_samples_per_worker,
            num_workers_per_iterator=num_workers_per_iterator,
            max_samples_per_stream=max_samples_per_stream,
            rate_limiter_timeout_ms=rate_limiter_timeout_ms,
            max_samples=max_samples,
        )

    def _as_variant_tensor(self) -> Any:
        specs = tf.nest.flatten(self._element_spec)
        create = getattr(op_library.ops(), self._OP_NAME)
        return create(
            server_address=self._server_address,
            table=self._table,
            dtypes=[spec.dtype for spec in specs],
            shapes=[spec.shape for spec in specs],
            **self._attributes,
        )

    def _inputs(self) -> list[Any]:
        return []

    @property
    def element_spec(self) -> replay_sample.ReplaySample:
        """A `ReplaySample` of `tf.TensorSpec`s."""
        return self._element_spec

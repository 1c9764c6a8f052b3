"""A `tf.data` dataset of batches of trajectories, from one server or many."""

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

import tree

from reverb_tf import replay_sample
from reverb_tf._tf import nest, op_library, table_signature
from reverb_tf._tf import reverb_dataset_options as checks
from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("reverb_tf.ReverbDataset")


class WeightedSample(NamedTuple):
    """An element with importance weights: `weights` is float32."""

    info: replay_sample.SampleInfo
    data: Any
    weights: Any


class PaddedSample(NamedTuple):
    """A padded batch: `lengths` is a nest like `data` of int64 vectors, the unpadded lengths."""

    info: replay_sample.SampleInfo
    data: Any
    lengths: Any


class WeightedPaddedSample(NamedTuple):
    """A padded batch with importance weights."""

    info: replay_sample.SampleInfo
    data: Any
    weights: Any
    lengths: Any


def _of_signature(server_address: Any, table: Any, timeout: float | None) -> tuple[Any, Any]:
    """Nests of the dtypes and of the shapes of the table's signature."""
    if any(map(tf.is_tensor, [table, server_address, *tree.flatten(server_address)])):
        raise ValueError(
            "ReverbDataset needs dtypes and shapes where server_address or table is a tensor: "
            "the signature is asked for when the dataset is described."
        )
    signature = table_signature.fetch(server_address, table, timeout)
    return (
        tree.map_structure(lambda spec: tf.as_dtype(spec.dtype), signature),
        tree.map_structure(lambda spec: tf.TensorShape(spec.shape), signature),
    )


class ReverbDataset(tf.compat.v1.data.Dataset):
    """Samples whole trajectories, in batches that are made natively: no work of tf.data is done for each of them.

    An element is a `ReplaySample`: `info` is a `SampleInfo`, `data` a nest of tensors, one for each column of the
    trajectory, with its length as the leading axis (squeezed columns have none). With `batch_size` all of them have the
    batch as their first axis. Each trajectory is decoded straight into its row.

    Options add fields: with `weights` an element is a `WeightedSample(info, data, weights)`, with `varying="pad"` a
    `PaddedSample(info, data, lengths)`, with both a `WeightedPaddedSample(info, data, weights, lengths)`.

        dataset = reverb_tf.ReverbDataset(
            ["host1:8000", "host2:8000"], "replay", batch_size=256, weights=beta)  # beta: a number or a tf.Variable
        for info, data, weights in dataset: ...

    **Several servers.** Each has its own client, workers and depth, and samples are mixed as they come: servers that
    all have samples take turns. A server that cannot be reached, or stops, is reported in the log, again every
    minute, and tried again after pauses of 0.5 to 30 s while the others go on. When none has been reachable for 60 s
    (or the only one, or that one was stopped), `tf.errors.UnavailableError` names them. An unknown table or data that
    do not fit are errors at once.

    **What is in flight.** Each server has at most `max_in_flight` items requested or buffered for an iterator (of
    several servers, one more each). They count as sampled, and are lost when the iterator goes. Without
    `max_staleness` tf.data may read ahead on its own account where something like `map` follows; with it, that is
    switched off.

    With `dtypes` and `shapes` nothing connects to a server before an iterator is created; that waits at most 30 s for
    the table's signature (5 s with several servers) and fails with `tf.errors.InvalidArgumentError` when they do not
    agree with it. An iterator can be saved with `tf.train.Checkpoint`: what is saved is how many samples were
    delivered, so that `max_samples` goes on where it was; the samples after it are new ones, what was in flight is not
    kept. Works in eager mode, in `tf.function` and in v1 graphs (initializable and one-shot iterators). The number of
    elements is known when `max_samples` is given without `rate_limiter_timeout_ms`, and infinite without both.
    """

    def __init__(
        self,
        server_address: Any,
        table: Any,
        batch_size: int | None = None,
        *,
        dtypes: Any = None,
        shapes: Any = None,
        drop_remainder: bool = False,
        varying: str = "error",
        weights: Any = None,
        weights_normalization: str = "batch",
        num_workers: int = 1,
        max_in_flight: int | None = None,
        max_staleness: int | float | datetime.timedelta | None = None,
        rate_limiter_timeout_ms: int | None = None,
        max_samples: int | None = None,
        max_samples_per_stream: int | None = None,
    ):
        """Describes the dataset.

        Args:
          server_address: `host:port` of the server, or a list of them; or a string tensor, a scalar or a vector.
          table: name of the table, the same on all servers; a string or a scalar string tensor.
          batch_size: trajectories in a batch; None: elements are single trajectories.
          dtypes: nest of the dtypes of the data of one trajectory; None, and then `shapes` as well: those of the
            table's signature, as from `from_table_signature`.
          shapes: nest like `dtypes` of the shapes of the data of one trajectory; dimensions may be None.
          drop_remainder: whether a last batch that is not full is dropped. Where all are full, or this is set, the
            first axis has a static size.
          varying: what becomes of data whose shape is not fully known in `shapes`. "error": all in one batch must
            have the same shape, else `tf.errors.InvalidArgumentError`. "pad": all are padded to the largest in the
            batch with zeros (empty strings), and `lengths` has the size of the first axis of each before that (1 for
            scalars). "ragged": data whose first dimension is unknown are `tf.RaggedTensor`s of shape `[batch, None,
            ...]`.
          weights: the exponent beta of importance weights (Schaul et al. 2016): `(N * P)^-beta`, with the table's
            size N and the item's probability P in its server's table at that moment, divided as
            `weights_normalization` says, as float32 of shape `[batch]`. A number, a scalar tensor, or a scalar float
            `tf.Variable` (on the CPU, with a value when the dataset is made), which is read when a batch is made:
            anneal it by assigning. None: no weights.
          weights_normalization: "batch": divided by the largest of the batch. "table": by the largest that any item
            would have, of the tables that samples came from so far.
          num_workers: concurrent streams of each server, which share `max_in_flight`. With one, items of one server
            come in the order in which the table picked them (a queue's order).
          max_in_flight: items that may be requested from each server or buffered; None: `2 * batch_size`, or 16
            without. More hides more latency and takes more memory; less keeps fewer items of old priorities.
          max_staleness: how old a sample may be, None: no bound. An int: at most so many samples are in flight, of all
            servers; so at most so many others are delivered between the moment in which an item is picked and its own
            delivery, not counting those of its batch. 0: nothing is picked before an element is asked for. Nothing is
            dropped. A float or timedelta: a sample that was received more than so many seconds ago is dropped when it
            would be put into its element; the time it is on its way, and in a batch that is being filled, are not
            counted. A dropped sample counts as sampled in its table, but not for `max_samples`.
          rate_limiter_timeout_ms: the sequence ends when the rate limiters of all servers that can be reached have
            blocked for so long; 0: as soon as they block; None: never. What was received before comes first.
          max_samples: the sequence ends after so many trajectories; None: never. From a single server exactly so many
            are taken (and those that were dropped); from several, up to `max_in_flight + 1` more of each.
          max_samples_per_stream: a stream is replaced after so many items; None: a default.

        Raises:
          ValueError: an option is out of range, needs another one, or `dtypes` and `shapes` have different structures;
            without them, what `from_table_signature` raises, or `server_address` or `table` is a tensor.
          TypeError: `dtypes` and `shapes` have different structures.
        """
        checks.check_integer("batch_size", batch_size, 1)
        checks.check_integer("num_workers", num_workers, 1, none=False)
        checks.check_integer("max_in_flight", max_in_flight, 1)
        checks.check_integer("rate_limiter_timeout_ms", rate_limiter_timeout_ms, 0)
        checks.check_integer("max_samples", max_samples, 1)
        checks.check_integer("max_samples_per_stream", max_samples_per_stream, 1)
        checks.check_choice("varying", varying, checks.VARYING)
        checks.check_choice("weights_normalization", weights_normalization, checks.NORMALIZATIONS)
        checks.check_batch_options(
            batch_size, drop_remainder=(drop_remainder, False), varying=(varying, "error")
        )
        if weights is not None and weights_normalization == "batch" and batch_size is None:
            raise ValueError('weights with weights_normalization="batch" need a batch_size')
        if isinstance(server_address, list | tuple) and not server_address:
            raise ValueError("server_address must have at least one address, got none")
        if dtypes is None and shapes is None:
            dtypes, shapes = _of_signature(server_address, table, None)
        elif dtypes is None or shapes is None:
            raise ValueError("dtypes and shapes go together: both, or none for the signature's.")
        tree.assert_same_structure(dtypes, shapes, check_types=False)
        self._server_address = server_address
        self._table = table
        self._beta = 0.0 if weights is None else checks.beta(weights)
        self._data_specs = tree.map_structure(
            lambda dtype, shape: tf.TensorSpec(shape, dtype),
            nest.lists_to_tuples(dtypes),
            nest.lists_to_tuples(shapes),
            check_types=False,
        )
        self._varying = varying
        self._weighted = weights is not None
        self._batched = batch_size is not None
        endless = rate_limiter_timeout_ms is None and (max_samples or 0) % (batch_size or 1) == 0
        self._rows = batch_size if drop_remainder or endless else None
        if varying == "ragged":
            for spec in tf.nest.flatten(self._data_specs):
                if spec.shape.rank is None:
                    raise ValueError(
                        f'varying="ragged" needs shapes of known rank, got {spec.shape} for {spec.dtype.name}'
                    )
        self._attributes = {
            "batch_size": -1 if batch_size is None else batch_size,
            "drop_remainder": drop_remainder,
            "varying": varying,
            "weights": weights_normalization if self._weighted else "none",
            "num_workers": num_workers,
            "max_in_flight": -1 if max_in_flight is None else max_in_flight,
            "rate_limiter_timeout_ms": -1
            if rate_limiter_timeout_ms is None
            else rate_limiter_timeout_ms,
            "max_samples": -1 if max_samples is None else max_samples,
            "max_samples_per_stream": -1
            if max_samples_per_stream is None
            else max_samples_per_stream,
            **checks.staleness(max_staleness),
        }
        self._element_spec = self._make_spec(self._ragged_spec)
        super().__init__()

    @classmethod
    def from_table_signature(
        cls,
        server_address: str | Sequence[str],
        table: str,
        batch_size: int | None = None,
        *,
        get_signature_timeout_secs: float | None = None,
        **options: Any,
    ) -> "ReverbDataset":
        """Asks a server for the table's signature and describes the dataset with it.

        Args:
          server_address: `host:port` of the server, or a list; the first that answers is believed.
          table: name of the table.
          batch_size: see `__init__`.
          get_signature_timeout_secs: how long to wait for each server; None: as long as a client tries to reach it, or
            5 s for each of several.
          **options: see `__init__`.

        Returns:
          A dataset whose data have the structure, dtypes and shapes of the signature.

        Raises:
          DeadlineExceededError: the server did not answer in time; of several, none did.
          ValueError: the server has no such table, or the table has no signature; or see `__init__`.
        """
        dtypes, shapes = _of_signature(server_address, table, get_signature_timeout_secs)
        return cls(server_address, table, batch_size, dtypes=dtypes, shapes=shapes, **options)

    def _is_ragged(self, spec: Any) -> bool:
        return self._varying == "ragged" and spec.shape.rank > 0 and spec.shape[0] is None

    def _with_rows(self, shape: Any) -> Any:
        return tf.TensorShape([self._rows]).concatenate(shape) if self._batched else shape

    def _ragged_spec(self, spec: Any) -> Any:
        return tf.RaggedTensorSpec(self._with_rows(spec.shape), spec.dtype, ragged_rank=1)

    def _flat_ragged_spec(self, spec: Any) -> Any:
        """Of the two components of a ragged tensor that the op gives: steps of all rows, row splits."""
        rows = None if self._rows is None else self._rows + 1
        return (spec, tf.TensorSpec([rows], tf.int64))

    def _make_spec(self, ragged_spec: Any) -> Any:
        """The spec of an element, with `ragged_spec(spec)` for data that are ragged."""
        info = replay_sample.SampleInfo(
            *(
                tf.TensorSpec(self._with_rows(shape), dtype)
                for shape, dtype in zip(
                    replay_sample.SampleInfo.tf_shapes(),
                    replay_sample.SampleInfo.tf_dtypes(),
                    strict=True,
                )
            )
        )
        data = tf.nest.map_structure(
            lambda spec: (
                ragged_spec(spec)
                if self._is_ragged(spec)
                else tf.TensorSpec(self._with_rows(spec.shape), spec.dtype)
            ),
            self._data_specs,
        )
        weights = tf.TensorSpec(self._with_rows(tf.TensorShape([])), tf.float32)
        lengths = tf.nest.map_structure(
            lambda _: tf.TensorSpec([self._rows], tf.int64), self._data_specs
        )
        if self._varying == "pad":
            if self._weighted:
                return WeightedPaddedSample(info, data, weights, lengths)
            return PaddedSample(info, data, lengths)
        if self._weighted:
            return WeightedSample(info, data, weights)
        return replay_sample.ReplaySample(info, data)

    def _as_variant_tensor(self) -> Any:
        data_specs = tf.nest.flatten(self._data_specs)
        variant = op_library.ops().reverb_dataset(
            server_address=self._server_address,
            table=self._table,
            beta=self._beta,
            dtypes=[*replay_sample.SampleInfo.tf_dtypes(), *(spec.dtype for spec in data_specs)],
            shapes=[*replay_sample.SampleInfo.tf_shapes(), *(spec.shape for spec in data_specs)],
            **self._attributes,
        )
        if not any(map(self._is_ragged, data_specs)):
            return variant
        flat = tf.data.experimental.from_variant(variant, self._make_spec(self._flat_ragged_spec))

        @tf.autograph.experimental.do_not_convert
        def compose(sample: Any) -> Any:
            components = iter(tf.nest.flatten(sample.data))
            columns = [
                tf.RaggedTensor.from_row_splits(next(components), next(components), validate=False)
                if self._is_ragged(spec)
                else next(components)
                for spec in data_specs
            ]
            data = tf.nest.pack_sequence_as(self._data_specs, columns)
            return sample._replace(data=data)

        return tf.data.experimental.to_variant(flat.map(compose))

    def _inputs(self) -> list[Any]:
        return []

    @property
    def element_spec(self) -> Any:
        """A `ReplaySample`, `WeightedSample`, `PaddedSample` or `WeightedPaddedSample` of specs."""
        return self._element_spec

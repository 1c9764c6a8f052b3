"""Inserting, sampling and updating priorities inside TensorFlow programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tree

from reverb_tf import replay_sample
from reverb_tf._tf import op_library, resource
from reverb_tf._tf.tf_import import import_tensorflow

if TYPE_CHECKING:
    from reverb_tf import tf_trajectory_writer

tf = import_tensorflow("reverb_tf.TFClient")


class TFClient:
    """A client of one server whose methods are TensorFlow ops.

    Works in eager mode, in `tf.function` and in v1 graphs. The ops hold no thread while they wait, and end with
    `tf.errors.CancelledError` at once when their step is cancelled or their session closed. An op that cannot reach the
    server ends with `tf.errors.UnavailableError`, which names the address.

    Creating a client does not connect. The client belongs to the graph (or the eager context) it is created in; in
    eager mode it can be used in every `tf.function`.
    """

    def __init__(self, server_address: str, shared_name: str | None = None, name: str = "reverb"):
        """Creates the handle of the client.

        Args:
          server_address: `host:port` of the server.
          shared_name: clients of one server with the same shared name are one client, in every session of a process. By
            default each `TFClient` has its own.
          name: prefix of the names of the ops.
        """
        self._name = name
        self._server_address = server_address
        self._handle = resource.make(
            self,
            "client",
            server_address,
            shared_name,
            lambda shared: op_library.ops().reverb_client(
                server_address=server_address, shared_name=shared, name=name
            ),
        )

    @property
    def server_address(self) -> str:
        """`host:port` of the server."""
        return self._server_address

    @property
    def handle(self) -> Any:
        """The handle (a resource tensor) for the ops in `reverb_tf.cc.ops.gen_reverb_ops`."""
        return self._handle

    def __repr__(self) -> str:
        return f"TFClient(server_address={self._server_address!r})"

    def sample(
        self,
        table: str,
        data_dtypes: Any,
        name: str | None = None,
        data_shapes: Any = None,
    ) -> replay_sample.ReplaySample:
        """Samples one item and returns the first step of it.

        Waits until the table's rate limiter allows a sample. Exactly one item is taken from the table. (An op that is
        cancelled in the moment in which its item arrives has taken it too.)

        Args:
          table: name of the table; a string or a scalar string tensor.
          data_dtypes: nest of the dtypes of a step.
          name: name of the op.
          data_shapes: nest like `data_dtypes` of the shapes of a step, as far as known. In a graph the outputs have
            these static shapes; by default they are unknown.

        Returns:
          `ReplaySample`. `info` has scalar tensors: `key` (uint64), `probability` (float64), `table_size` (int64),
          `priority` (float64), `times_sampled` (int32). `data` is a nest like `data_dtypes`, without a time axis.

        Raises:
          ValueError: `data_shapes` is not nested like `data_dtypes`.
          tf.errors.NotFoundError: the server has no such table (when the op runs, as all below).
          tf.errors.InvalidArgumentError: the item has another number of columns than `data_dtypes` has leaves,
            columns of different lengths, or another shape than `data_shapes`. In eager mode also: another dtype.
          tf.errors.InternalError: in a graph, the item has another dtype.
        """
        leaves = [tf.as_dtype(dtype) for dtype in tree.flatten(data_dtypes)]
        shapes = []
        if data_shapes is not None:
            shapes = [tf.TensorShape(s) for s in tree.flatten_up_to(data_dtypes, data_shapes)]
        with tf.name_scope(name or f"{self._name}_sample"):
            outputs = op_library.ops().reverb_client_sample(
                handle=self._handle,
                table=table,
                Toutput_list=leaves,
                output_shapes=shapes,
            )
        info = replay_sample.SampleInfo(
            key=outputs.key,
            probability=outputs.probability,
            table_size=outputs.table_size,
            priority=outputs.priority,
            times_sampled=outputs.times_sampled,
        )
        data = tree.unflatten_as(data_dtypes, list(outputs.outputs))
        return replay_sample.ReplaySample(info=info, data=data)

    def insert(
        self,
        data: Sequence[Any],
        tables: Any,
        priorities: Any,
        name: str | None = None,
    ) -> Any:
        """Inserts one step as an item of length one into each of `tables`.

        Done when the server has confirmed all of them: a sample taken afterwards sees them. Items in different tables
        share their data.

        Args:
          data: flat list of tensors (or what can be converted to one): the step.
          tables: string tensor of shape [n], names of the tables.
          priorities: float64 tensor of shape [n], priority of the item in each table.
          name: name of the op.

        Returns:
          The operation (in eager mode: None).

        Raises:
          ValueError: `tables` or `priorities` has another dtype, rank or static shape.
          tf.errors.InvalidArgumentError: (when the op runs) an unknown table, data that differ from a table's
            signature, or a priority that a table's selectors refuse.
        """
        tables = tf.convert_to_tensor(tables)
        priorities = tf.convert_to_tensor(priorities)
        if tables.dtype != tf.string or tables.shape.rank != 1:
            raise ValueError(
                f"tables must be a string tensor of rank 1, got dtype {tables.dtype.name} and shape {tables.shape}."
            )
        if priorities.dtype != tf.float64 or priorities.shape.rank != 1:
            raise ValueError(
                "priorities must be a float64 tensor of rank 1, "
                f"got dtype {priorities.dtype.name} and shape {priorities.shape}."
            )
        if not tables.shape.is_compatible_with(priorities.shape):
            raise ValueError(
                f"tables and priorities must have the same shape, got {tables.shape} and {priorities.shape}."
            )
        with tf.name_scope(name or f"{self._name}_insert"):
            return op_library.ops().reverb_client_insert(
                handle=self._handle, data=data, tables=tables, priorities=priorities
            )

    def update_priorities(
        self,
        table: str,
        keys: Any,
        priorities: Any,
        name: str | None = None,
    ) -> Any:
        """Sets the priorities of items. Keys that are not in the table are ignored.

        Args:
          table: name of the table; a string or a scalar string tensor.
          keys: uint64 tensor of shape [n], keys of the items (as in `SampleInfo.key`).
          priorities: float64 tensor of shape [n].
          name: name of the op.

        Returns:
          The operation (in eager mode: None).

        Raises:
          tf.errors.NotFoundError: (when the op runs) the server has no such table.
          tf.errors.InvalidArgumentError: (when the op runs) `keys` and `priorities` differ in shape, or the table's
            selectors refuse a priority.
        """
        with tf.name_scope(name or f"{self._name}_update_priorities"):
            return op_library.ops().reverb_client_update_priorities(
                handle=self._handle, table=table, keys=keys, priorities=priorities
            )

    def trajectory_writer(
        self, spec: Any, num_keep_alive_refs: int, **options: Any
    ) -> "tf_trajectory_writer.TFTrajectoryWriter":
        """Creates a writer of steps and items whose ops, in a `tf.function`, run in order with those of this client.

        Args:
          spec: nest of TensorSpecs of a step.
          num_keep_alive_refs: >= 1, of how many of the newest steps items can be made.
          **options: of `TFTrajectoryWriter`: `batch_size`, `max_chunk_length`, `validate_items`, `patience`,
            `shared_name`, `name`.

        Returns:
          The `TFTrajectoryWriter`.

        Raises:
          ValueError, TypeError: as for `TFTrajectoryWriter`.
        """
        from reverb_tf import tf_trajectory_writer

        return tf_trajectory_writer.TFTrajectoryWriter(
            self._server_address,
            spec,
            num_keep_alive_refs,
            ordered_with=[self._handle, *options.pop("ordered_with", ())],
            **options,
        )

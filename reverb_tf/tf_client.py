"""Inserting, sampling, updating priorities and deleting inside TensorFlow programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tree

from reverb_tf import replay_sample
from reverb_tf._tf import op_library, resource, table_signature
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
        self._signatures: dict[str, Any] = {}
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
        data_dtypes: Any = None,
        name: str | None = None,
        data_shapes: Any = None,
        num_samples: Any = None,
        trajectories: bool = False,
        get_signature_timeout_secs: float | None = 30.0,
    ) -> replay_sample.ReplaySample:
        """Samples one item, or several, and returns the first step of each, or the whole trajectory.

        Waits until the table's rate limiter allows it. Exactly as many items are taken from the table as are returned;
        when the op ends with an error or is cancelled, those that had come are lost. Several samples come in one
        request.

        Args:
          table: name of the table; a string or a scalar string tensor.
          data_dtypes: nest of the dtypes of the data. By default dtypes, structure and shapes are those of the
            table's signature, for which the server is asked once, now. The signature is taken as that of what is
            returned: of a step, or with `trajectories` of a trajectory.
          name: name of the op.
          data_shapes: nest like `data_dtypes` of the shapes of the data of one sample, as far as known. In a graph the
            outputs have these static shapes; by default they are unknown where `data_dtypes` are given.
          num_samples: how many items to sample, an integer >= 1 or a scalar integer tensor. All outputs then have the
            samples as their first axis, and so all samples must have the same shapes. None: one, without that axis.
          trajectories: whether to return all steps of an item instead of the first.
          get_signature_timeout_secs: how long to wait for the server when it is asked for the signature; None: as long
            as a client tries to reach it.

        Returns:
          `ReplaySample`. `info` has tensors of shape [], or [num_samples]: `key` (uint64), `probability` (float64),
          `table_size` (int64), `priority` (float64), `times_sampled` (int32). `data` is a nest like `data_dtypes`. A
          step has no time axis; the columns of a trajectory have one first, unless they are squeezed.

        Raises:
          ValueError: `data_shapes` is not nested like `data_dtypes`; no `data_dtypes` are given and the server has no
            such table, or the table no signature.
          DeadlineExceededError: the server was asked for the signature and did not answer in time.
          tf.errors.NotFoundError: the server has no such table (when the op runs, as all below).
          tf.errors.InvalidArgumentError: the item has another number of columns than `data_dtypes` has leaves, another
            shape than `data_shapes`, columns of different lengths (where the first step is wanted), or other shapes
            than another sample of the same call. Another dtype, too, except as below.
          tf.errors.InternalError: in a graph, where one first step is sampled, the item has another dtype.
        """
        if data_dtypes is None:
            specs = self._signature(table, get_signature_timeout_secs)
            data_dtypes = tree.map_structure(lambda spec: spec.dtype, specs)
            if data_shapes is None:
                data_shapes = tree.map_structure(lambda spec: spec.shape, specs)
        arguments = {
            "handle": self._handle,
            "table": table,
            "Toutput_list": [tf.as_dtype(dtype) for dtype in tree.flatten(data_dtypes)],
            "output_shapes": [],
            "name": name or f"{self._name}_sample",
        }
        if data_shapes is not None:
            shapes = tree.flatten_up_to(data_dtypes, data_shapes)
            arguments["output_shapes"] = [tf.TensorShape(shape) for shape in shapes]
        if num_samples is None and not trajectories:
            outputs = op_library.ops().reverb_client_sample(**arguments)
        else:
            outputs = op_library.ops().reverb_client_sample_batch(
                num_samples=1 if num_samples is None else tf.cast(num_samples, tf.int64),
                batched=num_samples is not None,
                timesteps=not trajectories,
                **arguments,
            )
        return replay_sample.ReplaySample(
            info=replay_sample.SampleInfo(*outputs[: len(replay_sample.SampleInfo._fields)]),
            data=tree.unflatten_as(data_dtypes, list(outputs.outputs)),
        )

    def _signature(self, table: Any, timeout: float | None) -> Any:
        if not isinstance(table, str):
            raise ValueError(
                f"data_dtypes must be given where the name of the table is a tensor, got table {table!r}."
            )
        if table not in self._signatures:
            self._signatures[table] = table_signature.fetch(self._server_address, table, timeout)
        return self._signatures[table]

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
        return op_library.ops().reverb_client_insert(
            handle=self._handle,
            data=data,
            tables=tables,
            priorities=priorities,
            name=name or f"{self._name}_insert",
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
        return op_library.ops().reverb_client_update_priorities(
            handle=self._handle,
            table=table,
            keys=keys,
            priorities=priorities,
            name=name or f"{self._name}_update_priorities",
        )

    def insert_batch(
        self,
        data: Any,
        table: str,
        priorities: Any,
        name: str | None = None,
    ) -> Any:
        """Inserts each row of a batch as an item of length one.

        Done when the server has confirmed all of them: a sample taken afterwards sees them. Their order is that of the
        rows. When the data or a priority does not fit the table, nothing is inserted.

        The data of an item have a leading axis of 1, as those of `insert`, except where the table's signature expects
        the shape of a step: then they have that shape.

        Args:
          data: nest of tensors or numpy arrays of shape [n, ...]; row i of all of them is item i. (A list is a nest.)
          table: name of the table; a string or a scalar string tensor.
          priorities: float64 tensor of shape [n], priority of each item.
          name: name of the op.

        Returns:
          uint64 tensor of shape [n], the keys of the items.

        Raises:
          ValueError: static shapes or dtypes do not fit. (In eager mode `tf.errors.InvalidArgumentError`.)
          tf.errors.InvalidArgumentError: (when the op runs) an unknown table, data with another number of rows or that
            differ from the table's signature, or a priority that the table's selectors refuse.
        """
        return op_library.ops().reverb_client_insert_batch(
            handle=self._handle,
            data=tree.flatten(data),
            table=table,
            priorities=tf.convert_to_tensor(priorities, tf.float64),
            name=name or f"{self._name}_insert_batch",
        )

    def delete(self, table: str, keys: Any, name: str | None = None) -> Any:
        """Deletes items. Keys that are not in the table are ignored.

        Args:
          table: name of the table; a string or a scalar string tensor.
          keys: uint64 tensor of shape [n], keys of the items (as in `SampleInfo.key`).
          name: name of the op.

        Returns:
          int64 scalar tensor: how many of the items were in the table; -1 where the server does not tell, as that of
          dm-reverb. (When the connection was lost meanwhile, what an earlier try deleted is not counted.)

        Raises:
          tf.errors.NotFoundError: (when the op runs) the server has no such table.
        """
        return op_library.ops().reverb_client_delete(
            handle=self._handle,
            table=table,
            keys=tf.convert_to_tensor(keys, tf.uint64),
            name=name or f"{self._name}_delete",
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

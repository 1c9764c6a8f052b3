"""Writing steps, and items made of them, inside TensorFlow programs."""

import math
from collections.abc import Sequence
from typing import Any

import tree

from reverb_tf import _arguments
from reverb_tf._tf import op_library, resource, step_spec
from reverb_tf._tf.column_history import TFColumnHistory, TFTrajectoryColumn
from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("reverb_tf.TFTrajectoryWriter")


class TFTrajectoryWriter:
    """Writes steps to a server, and items (trajectories over those steps) to its tables; every method is an op.

    Works in eager mode, in `tf.function`, in v1 graphs and in loops of each. With a `batch_size` it writes the steps of
    so many environments that are stepped together: steps then have a leading axis of environments, and the episode of
    each environment is its own, so `mask` chooses which environments a call is for.

    In a `tf.function` the ops of a writer run in the order in which they are written; those of a writer made by
    `TFClient.trajectory_writer` also in order with that client's ops. In a v1 graph use control dependencies. The ops
    hold no thread while they wait, and end with `tf.errors.CancelledError` at once when their step is cancelled.

    Items that were not confirmed (see `flush`) when the writer goes are lost. Once the server has not been reached for
    `patience` seconds, or an item was refused by it, every op ends with that error: `tf.errors.UnavailableError` names
    the address.

        writer = client.trajectory_writer(spec, num_keep_alive_refs=2, batch_size=8)

        @tf.function
        def collect(observation):
            for _ in tf.range(1000):
                action = policy(observation)
                next_observation, reward, is_last = step(observation, action)
                writer.append({"observation": observation, "action": action, "reward": reward})
                writer.create_item("replay", 1.0, num_timesteps=2, skip_short=True)
                writer.end_episode(mask=is_last)
                observation = next_observation
            writer.flush()
    """

    def __init__(
        self,
        server_address: str,
        spec: Any,
        num_keep_alive_refs: int,
        *,
        batch_size: int | None = None,
        max_chunk_length: int | None = None,
        validate_items: bool = True,
        patience: float = 60.0,
        ordered_with: Sequence[Any] = (),
        shared_name: str | None = None,
        name: str = "reverb_writer",
    ):
        """Creates the handle of the writer; does not connect.

        Args:
          server_address: `host:port` of the server.
          spec: nest of TensorSpecs of a step of one environment; dimensions may be None.
          num_keep_alive_refs: >= 1, of how many of the newest steps items can be made.
          batch_size: number of environments, >= 1. None: one environment, and steps without that axis.
          max_chunk_length: steps stored together, 1 <= max_chunk_length <= num_keep_alive_refs; None: found while
            writing.
          validate_items: items are checked against the signatures of their tables.
          patience: seconds for which a lost server is tried again; one that was stopped, at most half a second.
          ordered_with: handles of other resources (scalar resource tensors); in a `tf.function` the writer's ops run in
            order with the ops on those.
          shared_name: writers to one server with the same shared name are one writer, in every session of a process.
          name: prefix of the names of the ops.

        Raises:
          ValueError: a number is not as said above, or `spec` has no leaves.
          TypeError: a leaf of `spec` is no TensorSpec, or a number no int.
        """
        num_keep_alive_refs = _arguments.count(num_keep_alive_refs, "num_keep_alive_refs")
        if max_chunk_length is not None:
            max_chunk_length = _arguments.count(max_chunk_length, "max_chunk_length")
            if max_chunk_length > num_keep_alive_refs:
                raise ValueError(
                    f"max_chunk_length ({max_chunk_length}) must be <= num_keep_alive_refs ({num_keep_alive_refs})"
                )
        if not patience >= 0:
            raise ValueError(f"patience must be >= 0 seconds, got {patience!r}")
        self._name = name
        self._server_address = server_address
        self._spec = spec
        self._columns = step_spec.columns_of(spec)
        self._num_keep_alive_refs = num_keep_alive_refs
        self._batch_size = (
            None if batch_size is None else _arguments.count(batch_size, "batch_size")
        )
        self._order = list(ordered_with)
        self._handle = resource.make(
            self,
            "trajectory_writer",
            server_address,
            shared_name,
            lambda shared: op_library.ops().reverb_trajectory_writer(
                server_address=server_address,
                dtypes=[column.dtype for column in self._columns],
                shapes=[column.shape for column in self._columns],
                paths=[column.path for column in self._columns],
                batch_size=self._batch_size or -1,
                num_keep_alive_refs=num_keep_alive_refs,
                max_chunk_length=max_chunk_length or 0,
                validate_items=validate_items,
                patience=patience,
                shared_name=shared,
                name=name,
            ),
        )
        self._history = tree.unflatten_as(
            spec,
            [TFColumnHistory(self._handle, column.number, column.path) for column in self._columns],
        )

    @property
    def server_address(self) -> str:
        """`host:port` of the server."""
        return self._server_address

    @property
    def batch_size(self) -> int | None:
        """The number of environments; None without an axis of them."""
        return self._batch_size

    @property
    def history(self) -> Any:
        """A nest like the spec, with the history of a column (`TFColumnHistory`) at each leaf."""
        return self._history

    def __repr__(self) -> str:
        return f"TFTrajectoryWriter(server_address={self._server_address!r}, batch_size={self._batch_size})"

    def append(
        self, data: Any, *, partial_step: bool = False, mask: Any = None, name: str | None = None
    ) -> Any:
        """Appends one step to the episode of each environment.

        Args:
          data: nest like the spec of tensors (or what becomes one), with a leading axis of environments if there is a
            batch size. Columns may be left out (keys of a dict) or be None.
          partial_step: the next append adds columns to this step, which must not be set yet, instead of starting
            another.
          mask: bool, shape [] or [batch_size]: which environments get the step; None: all.
          name: name of the op.

        Returns:
          The operation (in eager mode: None).

        Raises:
          ValueError: a column that the spec lacks, or another dtype or static shape than its spec.
          tf.errors.InvalidArgumentError: (when the op runs, as all below) another shape than the spec.
          tf.errors.FailedPreconditionError: a column is set twice in a step. Nothing was appended then.
          tf.errors.CancelledError: the writer was closed, or the step was cancelled.
          tf.errors.UnavailableError: the server was lost, see above.
        """
        columns, tensors = [], []
        parts = step_spec.parts_of(self._spec, data)
        with tf.name_scope(name or f"{self._name}_append"):
            for column, (_, value) in zip(self._columns, parts, strict=True):
                if value is None:
                    continue
                columns.append(column.number)
                tensors.append(step_spec.tensor_for(column, value, self._batch_size))
            return op_library.ops().reverb_trajectory_writer_append(
                handle=self._handle,
                order=self._order,
                mask=self._mask(mask),
                data=tensors,
                columns=columns,
                partial=bool(partial_step),
            )

    def create_item(
        self,
        table: Any,
        priority: Any,
        trajectory: Any = None,
        *,
        num_timesteps: Any = None,
        skip_short: bool = False,
        mask: Any = None,
        timeout: float | None = None,
        name: str | None = None,
    ) -> Any:
        """Creates an item of the newest steps of each environment. It is sent when its data are complete, or by flush.

        Waits only while too much of an environment is unconfirmed (4,096 items or 64 MiB).

        Args:
          table: name of the table; string, shape [] or [batch_size].
          priority: float64 tensor, or a Python number, of shape [] or [batch_size].
          trajectory: nest of slices of `history`: what the item is made of.
          num_timesteps: instead of a trajectory: the item has so many of the newest steps of every column. An int or a
            scalar integer tensor, 1 <= num_timesteps <= num_keep_alive_refs.
          skip_short: an environment whose episode does not have all the steps that are asked for gets no item. By
            default slices are clipped as in Python, and a `num_timesteps` or an int index too large is an error.
          mask: bool, shape [] or [batch_size]: which environments get an item; None: all.
          timeout: seconds that this may wait because too much is unconfirmed; None: no limit.
          name: name of the op.

        Returns:
          The keys: uint64, shape [] or [batch_size]; 0 where there is no item.

        Raises:
          ValueError: none or both of `trajectory` and `num_timesteps`, an empty trajectory, slices of another writer,
            or another dtype or static shape of an argument than said above.
          TypeError: a leaf of `trajectory` is no slice of `history`.
          tf.errors.InvalidArgumentError: (when the op runs, as all below) an unknown table, a signature that the item
            does not fit, a priority that the table refuses, steps that do not exist, were not set, or are not kept any
            more. Environments before the one that the error names may have got their items, if the table refuses it.
          tf.errors.DeadlineExceededError: the wait was too long. There is no item of any environment then.
          tf.errors.CancelledError: the writer was closed, or the step was cancelled.
          tf.errors.UnavailableError: the server was lost, see above.
        """
        if (trajectory is None) == (num_timesteps is None):
            raise ValueError("create_item needs either a trajectory or num_timesteps.")
        with tf.name_scope(name or f"{self._name}_create_item"):
            if trajectory is None:
                short_episode = "error"
                chosen = self._last_steps(num_timesteps)
            else:
                short_episode = "clip"
                chosen = self._check_trajectory(trajectory)
            return op_library.ops().reverb_trajectory_writer_create_item(
                handle=self._handle,
                order=self._order,
                mask=self._mask(mask),
                table=self._scalars(table, "table", tf.string),
                priority=self._scalars(priority, "priority", tf.float64),
                starts=_int64_vector([column.start for column in chosen]),
                stops=_int64_vector([column.stop for column in chosen]),
                columns=[column.number for column in chosen],
                squeeze=[column.squeeze for column in chosen],
                short_episode="skip" if skip_short else short_episode,
                timeout_ms=_milliseconds(timeout),
            )

    def flush(
        self,
        block_until_num_items: int = 0,
        *,
        timeout: float | None = None,
        name: str | None = None,
    ) -> Any:
        """Sends everything and waits for confirmations, of all environments at once.

        What is sampled afterwards sees the items.

        Args:
          block_until_num_items: how many items of each environment may still be unconfirmed, >= 0.
          timeout: seconds; None: no limit.
          name: name of the op.

        Returns:
          The operation (in eager mode: None).

        Raises:
          ValueError: an argument is negative.
          tf.errors.DeadlineExceededError: (when the op runs, as all below) more items were still unconfirmed after that
            time. They stay queued.
          tf.errors.CancelledError: the writer was closed, or the step was cancelled: then the items stay queued.
          tf.errors.UnavailableError: the server was lost, see above.
        """
        if block_until_num_items < 0:
            raise ValueError(f"block_until_num_items must be >= 0, got {block_until_num_items}")
        with tf.name_scope(name or f"{self._name}_flush"):
            return op_library.ops().reverb_trajectory_writer_flush(
                handle=self._handle,
                order=self._order,
                max_pending=block_until_num_items,
                timeout_ms=_milliseconds(timeout),
            )

    def end_episode(
        self,
        clear_buffers: bool = True,
        *,
        mask: Any = None,
        timeout: float | None = None,
        name: str | None = None,
    ) -> Any:
        """Flushes, then begins a new episode. A step that is still open is closed as it is.

        Args:
          clear_buffers: also empty the histories; else items may still have steps of this episode.
          mask: bool, shape [] or [batch_size]: whose episodes end; None: all. Those of others go on, without a flush.
          timeout: seconds; None: no limit. No episode has ended then.
          name: name of the op.

        Returns:
          The operation (in eager mode: None).

        Raises:
          ValueError: `mask` has another dtype or static shape, or `timeout` is negative.
          Others: as for flush.
        """
        with tf.name_scope(name or f"{self._name}_end_episode"):
            return op_library.ops().reverb_trajectory_writer_end_episode(
                handle=self._handle,
                order=self._order,
                mask=self._mask(mask),
                clear_buffers=bool(clear_buffers),
                timeout_ms=_milliseconds(timeout),
            )

    def close(self, name: str | None = None) -> Any:
        """Ends the writer without flushing: later ops, and those that wait, end with `tf.errors.CancelledError`.

        Returns:
          The operation (in eager mode: None).
        """
        with tf.name_scope(name or f"{self._name}_close"):
            return op_library.ops().reverb_trajectory_writer_close(
                handle=self._handle, order=self._order
            )

    def _mask(self, mask: Any) -> Any:
        shape = [] if self._batch_size is None else [self._batch_size]
        if mask is None:
            return tf.ones(shape, tf.bool)
        mask = tf.convert_to_tensor(mask)
        if mask.dtype != tf.bool or not mask.shape.is_compatible_with(shape):
            raise ValueError(
                f"mask must be a bool tensor of shape {shape}, got dtype {mask.dtype.name} and shape {mask.shape}."
            )
        return mask

    def _scalars(self, value: Any, what: str, dtype: Any) -> Any:
        """A tensor for each environment, or one for all."""
        tensor = tf.convert_to_tensor(value, None if hasattr(value, "dtype") else dtype)
        shapes = [tf.TensorShape([])]
        if self._batch_size is not None:
            shapes.append(tf.TensorShape([self._batch_size]))
        if tensor.dtype != dtype or not any(map(tensor.shape.is_compatible_with, shapes)):
            raise ValueError(
                f"{what} must be a {dtype.name} tensor of shape {' or '.join(map(str, shapes))}, "
                f"got dtype {tensor.dtype.name} and shape {tensor.shape}."
            )
        return tensor

    def _last_steps(self, num_timesteps: Any) -> list[TFTrajectoryColumn]:
        if not tf.is_tensor(num_timesteps):
            num_timesteps = _arguments.count(num_timesteps, "num_timesteps")
            if num_timesteps > self._num_keep_alive_refs:
                raise ValueError(
                    f"num_timesteps ({num_timesteps}) must be <= num_keep_alive_refs ({self._num_keep_alive_refs})"
                )
        elif not num_timesteps.dtype.is_integer:
            raise TypeError(f"num_timesteps must be an integer, got {num_timesteps.dtype.name}.")
        else:
            # [-0:] would be everything.
            check = tf.debugging.assert_positive(num_timesteps, "num_timesteps must be >= 1")
            with tf.control_dependencies([] if check is None else [check]):
                # A cast to the same dtype is no op, which could not wait for the check.
                num_timesteps = tf.cast(tf.identity(num_timesteps), tf.int64)
        return [history[-num_timesteps:] for history in tree.flatten(self._history)]

    def _check_trajectory(self, trajectory: Any) -> list[TFTrajectoryColumn]:
        columns = tree.flatten(trajectory)
        if not columns:
            raise ValueError("The trajectory is empty: an item needs at least one column.")
        for column in columns:
            if not isinstance(column, TFTrajectoryColumn):
                raise TypeError(
                    "All leaves of a trajectory must be slices of the writer's history, "
                    f"got {column!r} ({type(column).__name__})."
                )
            if column.handle is not self._handle:
                raise ValueError(
                    f"The trajectory has a slice of column {column.path} of another writer."
                )
        return columns


def _int64_vector(values: list[Any]) -> Any:
    if all(isinstance(value, int) for value in values):
        return tf.constant(values, tf.int64)
    return tf.stack([tf.cast(value, tf.int64) for value in values])


def _milliseconds(timeout: float | None) -> int:
    if timeout is None:
        return -1
    if not timeout >= 0:
        raise ValueError(f"timeout must be >= 0 seconds or None, got {timeout}")
    return math.ceil(min(timeout, 1e9) * 1000)

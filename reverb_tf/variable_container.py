"""Moving variables between TensorFlow programs through a server."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from reverb_tf import client
from reverb_tf._tf import op_library
from reverb_tf._tf.tf_import import import_tensorflow
from reverb_tf.variables import DEFAULT_TABLE

tf = import_tensorflow("reverb_tf.VariableContainer")

from reverb_tf import tf_client  # noqa: E402
from reverb_tf._tf import variable_spec  # noqa: E402


@contextlib.contextmanager
def _value_error_in_eager_mode() -> Iterator[None]:
    try:
        yield
    except tf.errors.InvalidArgumentError as error:
        raise ValueError(f"No variable was changed: {error.message}") from error


class VariableContainer:
    """Variables on a server: a learner pushes them, and any number of actors pull them.

    Each table holds one nest of variables, the newest; `variable_table` makes such tables. `push`, `pull` and `update`
    work in eager mode, in `tf.function`, where they are ops, and in v1 graphs. They hold no thread while they wait, and
    end with `tf.errors.CancelledError` at once when their step is cancelled. A server that cannot be reached for a
    minute is `tf.errors.UnavailableError`.

    A pull gets all variables from one push, never from two.

    A table's version is the number of pushes it has had: the first one makes it 1. It goes on after a reset and after
    a restart of the server from a checkpoint; a server that starts without one counts from 0. `pull_if_newer`,
    `update_if_newer` and `wait_for` need a server that counts: dm-reverb does not.

    Thread-safe. Belongs to the graph, or the eager context, that it is made in.
    """

    def __init__(
        self,
        server_address: str,
        table_names: Sequence[str] = (DEFAULT_TABLE,),
        *,
        cast: bool = False,
        timeout: float | None = None,
    ):
        """Connects to the server and reads the signatures of the tables.

        Args:
          server_address: `host:port` of the server.
          table_names: the tables that are used.
          cast: True: floating point variables whose dtype is another floating point dtype than the table's are cast by
            `push` and `update`. False: they are refused.
          timeout: seconds to wait for the server's answer; None: no limit but that of a server that cannot be reached.

        Raises:
          KeyError: the server has no such table.
          ValueError: a table's max_size is not 1.
          TypeError: a table has no signature, or `table_names` is a string.
          UnavailableError: the server could not be reached.
          DeadlineExceededError: it did not answer in time.
        """
        if isinstance(table_names, str | bytes):
            raise TypeError(f"table_names must be a sequence of names, got {table_names!r}")
        infos = client.Client(server_address).server_info(timeout)
        self._tables: dict[str, variable_spec.VariableSpec] = {}
        for name in table_names:
            if name not in infos:
                raise KeyError(
                    f"Server {server_address} has no table {name!r}; it has {sorted(infos)}"
                )
            if infos[name].max_size != 1:
                raise ValueError(
                    f"A table of variables has max_size 1, but that of table {name!r} is {infos[name].max_size}"
                )
            self._tables[name] = variable_spec.VariableSpec(name, infos[name], cast)
        self._client = tf_client.TFClient(server_address, name="variable_container")

    def __repr__(self) -> str:
        tables = list(self._tables)
        return f"VariableContainer(server_address={self._client.server_address!r}, tables={tables})"

    def push(self, values: Any, table: str = DEFAULT_TABLE) -> Any:
        """Makes `values` the newest variables of a table; done when the server has confirmed it.

        Args:
          values: nest of variables, tensors, or what can be converted to one, like the signature of the table. Lists,
            tuples and named tuples may stand for each other.
          table: its name.

        Returns:
          None; in a v1 graph the operation.

        Raises:
          KeyError: `table` was not named when the container was made.
          tf.errors.InvalidArgumentError: `values` are nested in another way than the signature, or one of them has
            another dtype or shape. (A shape that is not known statically is checked when the op runs.)
        """
        spec = self._spec(table)
        with tf.name_scope("variable_container_push"):
            op = op_library.ops().reverb_variable_push(
                handle=self._client.handle,
                table=table,
                values=spec.tensors(values),
                shapes=spec.shapes,
            )
        return None if tf.compat.v1.executing_eagerly_outside_functions() else op

    def pull(
        self, table: str = DEFAULT_TABLE, *, dtypes: Any = None, timeout: float | None = None
    ) -> Any:
        """The newest variables of a table, all from one push. Waits while nothing was pushed yet.

        Args:
          table: its name.
          dtypes: a floating point dtype that floating point variables are cast to, or a nest of the dtype of each
            variable; None: the dtypes of the signature.
          timeout: seconds to wait while nothing was pushed; None: no limit.

        Returns:
          Nest of tensors with the structure, the dtypes and in a graph the static shapes of the signature.

        Raises:
          KeyError: `table` was not named when the container was made.
          ValueError: `dtypes` are not nested like the signature, or ask for a cast that is not between floating point
            dtypes; `timeout` is negative.
          tf.errors.DeadlineExceededError: (when the op runs, as all below) nothing was pushed in time.
          tf.errors.InvalidArgumentError: somebody pushed something else than the signature says, past a container.
        """
        spec = self._spec(table)
        targets = spec.target_dtypes(dtypes)
        pulled = self._pull(spec, spec.shapes, timeout)
        return spec.nest(pulled.values, targets)

    def update(
        self, variables: Any, table: str = DEFAULT_TABLE, *, timeout: float | None = None
    ) -> Any:
        """Assigns the newest variables of a table to `variables`: to all of them, or in case of an error to none.

        Args:
          variables: nest of variables like the signature of the table. Lists, tuples and named tuples may stand for
            each other.
          table: its name.
          timeout: seconds to wait while nothing was pushed; None: no limit.

        Returns:
          None; in a v1 graph the operation.

        Raises:
          KeyError: `table` was not named when the container was made.
          ValueError: `variables` are nested in another way than the signature, or one of them has another dtype or
            shape. In `tf.function`, a shape that is not known before is `tf.errors.InvalidArgumentError`.
          tf.errors.DeadlineExceededError: (when the op runs) nothing was pushed in time.
        """
        spec = self._spec(table)
        # The op checks the shapes on arrival: what it returns can be assigned.
        leaves, shapes = spec.variables(variables)
        with _value_error_in_eager_mode():
            pulled = self._pull(spec, shapes, timeout)
        assigned = self._assign(leaves, pulled.values)
        return None if tf.compat.v1.executing_eagerly_outside_functions() else assigned

    def wait_for(
        self,
        version: Any,
        table: str = DEFAULT_TABLE,
        *,
        dtypes: Any = None,
        timeout: float | None = None,
    ) -> tuple[tf.Tensor, Any]:
        """Waits until a table has a version, and returns it or a newer one. The server says when: nothing is polled.

        An actor that wants all pushes it can keep up with says `version, values = container.wait_for(version + 1)`.

        Args:
          version: the least one that is wanted; an int64 scalar.
          table: its name.
          dtypes: as of `pull`.
          timeout: seconds to wait for the version; None: no limit.

        Returns:
          The version, an int64 scalar, and the variables, as from `pull`.

        Raises:
          KeyError, ValueError: as from `pull`.
          tf.errors.UnimplementedError: the server does not count versions.
          tf.errors.DeadlineExceededError: the version did not come in time. The text says which version there is.
        """
        spec = self._versioned_spec(table)
        targets = spec.target_dtypes(dtypes)
        pulled = self._pull(spec, spec.shapes, timeout, version)
        return pulled.version, spec.nest(pulled.values, targets)

    def pull_if_newer(
        self,
        version: Any,
        table: str = DEFAULT_TABLE,
        *,
        default: Any = None,
        dtypes: Any = None,
    ) -> tuple[tf.Tensor, Any, tf.Tensor]:
        """Pulls unless a table has nothing but the given version. Does not wait for a push, and moves no data then.

        Args:
          version: the one that the caller has, an int64 scalar; 0: none. A version that the server has not reached (it
            has started anew) is not what the table has.
          table: its name.
          default: nest of what is returned if there is nothing newer, with the structure, dtypes and shapes of the
            signature; None: zeros, where unknown dimensions are 0.
          dtypes: as of `pull`.

        Returns:
          The version of the table (or, if there is nothing newer, the given one), an int64 scalar; the variables, as
          from `pull`, or `default`; and whether they are newer, a bool scalar.

        Raises:
          KeyError, ValueError: as from `pull`.
          tf.errors.InvalidArgumentError: `default` does not match the signature.
          tf.errors.UnimplementedError: the server does not count versions.
        """
        spec = self._versioned_spec(table)
        targets = spec.target_dtypes(dtypes)
        defaults = [] if default is None else spec.tensors(default)
        pulled = self._pull_if_newer(spec, spec.shapes, version, defaults)
        return pulled.new_version, spec.nest(pulled.values, targets), pulled.is_newer

    def update_if_newer(
        self, variables: Any, version: Any, table: str = DEFAULT_TABLE
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Like `update`, unless a table has nothing but the given version. Does not wait for a push.

        Args:
          variables: as of `update`.
          version: as of `pull_if_newer`.
          table: its name.

        Returns:
          The version that the variables have now, an int64 scalar, and whether they were assigned, a bool scalar.

        Raises:
          KeyError, ValueError: as from `update`.
          tf.errors.UnimplementedError: the server does not count versions.
        """
        spec = self._versioned_spec(table)
        leaves, shapes = spec.variables(variables)
        # What they hold is returned where nothing is newer, which costs nothing: zeros would have to be written.
        current = [tf.convert_to_tensor(leaf) for leaf in leaves]
        defaults = current if [value.dtype for value in current] == spec.dtypes else []
        with _value_error_in_eager_mode():
            pulled = self._pull_if_newer(spec, shapes, version, defaults)

        def assign() -> tf.Tensor:
            with tf.control_dependencies([self._assign(leaves, pulled.values)]):
                return tf.identity(pulled.new_version)

        return tf.cond(pulled.is_newer, assign, lambda: pulled.new_version), pulled.is_newer

    def _versioned_spec(self, table: str) -> variable_spec.VariableSpec:
        spec = self._spec(table)
        if not spec.has_versions:
            raise tf.errors.UnimplementedError(
                None,
                None,
                f"The server at {self._client.server_address} does not count versions: it is dm-reverb or an older "
                "release",
            )
        return spec

    def _spec(self, table: str) -> variable_spec.VariableSpec:
        if table not in self._tables:
            raise KeyError(
                f"{table!r} is no table of this container; it was made for {sorted(self._tables)}"
            )
        return self._tables[table]

    def _pull(
        self,
        spec: variable_spec.VariableSpec,
        shapes: list[tf.TensorShape],
        timeout: float | None,
        min_version: Any = 0,
    ) -> Any:
        if timeout is not None and not timeout >= 0:
            raise ValueError(f"timeout must be >= 0 or None, got {timeout}")
        endless = timeout is None or timeout > 1e9
        timeout_ms = -1 if endless else math.ceil(timeout * 1000)
        return op_library.ops().reverb_variable_pull(
            handle=self._client.handle,
            table=spec.table,
            min_version=tf.cast(min_version, tf.int64),
            timeout_ms=timeout_ms,
            Toutput_list=spec.dtypes,
            output_shapes=shapes,
            name="variable_container_pull",
        )

    def _pull_if_newer(
        self,
        spec: variable_spec.VariableSpec,
        shapes: list[tf.TensorShape],
        version: Any,
        defaults: list[tf.Tensor],
    ) -> Any:
        return op_library.ops().reverb_variable_pull_if_newer(
            handle=self._client.handle,
            table=spec.table,
            version=tf.cast(version, tf.int64),
            defaults=defaults,
            Toutput_list=spec.dtypes,
            output_shapes=shapes,
            name="variable_container_pull_if_newer",
        )

    @staticmethod
    def _assign(leaves: list[Any], values: list[tf.Tensor]) -> Any:
        with tf.name_scope("variable_container_update"):
            pairs = zip(leaves, values, strict=True)
            return tf.group(*[leaf.assign(tf.cast(value, leaf.dtype)) for leaf, value in pairs])

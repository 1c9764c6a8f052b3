"""Moving variables between TensorFlow programs through a server."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from reverb_tf import _nests, client
from reverb_tf._tf import op_library
from reverb_tf._tf.tf_import import import_tensorflow
from reverb_tf.variables import DEFAULT_TABLE

tf = import_tensorflow("reverb_tf.VariableContainer")

from reverb_tf import tf_client  # noqa: E402


def _describe(dtype: Any, shape: Any) -> str:
    return f"{dtype.name} {shape}"


def _invalid(message: str) -> tf.errors.InvalidArgumentError:
    return tf.errors.InvalidArgumentError(None, None, message)


@dataclasses.dataclass(frozen=True)
class _Variables:
    """What a table holds."""

    table: str
    signature: Any
    paths: list[str]
    dtypes: list[tf.DType]
    shapes: list[tf.TensorShape]

    @classmethod
    def of(cls, table: str, signature: Any) -> "_Variables":
        """Raises TypeError if the signature describes no variables."""
        try:
            pairs = [] if signature is None else _nests.specs(signature)
        except _nests.StructureError as error:
            raise TypeError(f"The signature of table {table!r}: {error}") from None
        if not pairs:
            raise TypeError(
                f"Table {table!r} needs a signature of its variables, got {signature!r}"
            )
        return cls(
            table,
            signature,
            [path for path, _ in pairs],
            [tf.as_dtype(spec.dtype) for _, spec in pairs],
            [tf.TensorShape(spec.shape) for _, spec in pairs],
        )

    def leaves(self, nest: Any) -> list[Any]:
        """The values of a nest that is built like the signature; _nests.StructureError if it is not."""
        return [value for _, value in _nests.leaves(self.signature, nest)]

    def mismatch(self, i: int, dtype: Any, shape: Any) -> str:
        """Says what is wrong about variable i."""
        return (
            f"The variable at '{self.paths[i]}' is {_describe(dtype, shape)}, but the signature of table "
            f"{self.table!r} says {_describe(self.dtypes[i], self.shapes[i])}"
        )

    def structure_mismatch(self, error: Exception) -> str:
        """Says how a nest differs from the signature."""
        return f"The variables are not nested like the signature of table {self.table!r}: {error}"


class VariableContainer:
    """Variables on a server: a learner pushes them, and any number of actors pull them.

    Each table holds one nest of variables, the newest; `variable_table` makes such tables. `push`, `pull` and `update`
    work in eager mode, in `tf.function`, where they are ops, and in v1 graphs. They hold no thread while they wait, and
    end with `tf.errors.CancelledError` at once when their step is cancelled. A server that cannot be reached for a
    minute is `tf.errors.UnavailableError`.

    A pull gets all variables from one push, never from two.

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
        self._tables: dict[str, _Variables] = {}
        for name in table_names:
            if name not in infos:
                raise KeyError(
                    f"Server {server_address} has no table {name!r}; it has {sorted(infos)}"
                )
            if infos[name].max_size != 1:
                raise ValueError(
                    f"A table of variables has max_size 1, but that of table {name!r} is {infos[name].max_size}"
                )
            self._tables[name] = _Variables.of(name, infos[name].signature)
        self._cast = cast
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
        variables = self._variables(table)
        try:
            leaves = variables.leaves(values)
        except _nests.StructureError as error:
            raise _invalid(variables.structure_mismatch(error)) from None
        with tf.name_scope("variable_container_push"):
            tensors = [self._to_push(variables, i, value) for i, value in enumerate(leaves)]
            op = op_library.ops().reverb_variable_push(
                handle=self._client.handle, table=table, values=tensors, shapes=variables.shapes
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
        variables = self._variables(table)
        targets = self._dtypes(variables, dtypes)
        values = self._pull(variables, variables.shapes, timeout)
        return _nests.build(
            variables.signature,
            [tf.cast(v, dtype) for v, dtype in zip(values, targets, strict=True)],
        )

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
        spec = self._variables(table)
        try:
            leaves = spec.leaves(variables)
        except _nests.StructureError as error:
            raise ValueError(spec.structure_mismatch(error)) from None
        # The op checks the shapes on arrival: what it returns can be assigned.
        shapes = [self._check_variable(spec, i, variable) for i, variable in enumerate(leaves)]
        try:
            values = self._pull(spec, shapes, timeout)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(f"No variable was changed: {error.message}") from error
        with tf.name_scope("variable_container_update"):
            values = [tf.cast(v, leaf.dtype) for v, leaf in zip(values, leaves, strict=True)]
            assigns = [leaf.assign(value) for leaf, value in zip(leaves, values, strict=True)]
        if tf.compat.v1.executing_eagerly_outside_functions():
            return None
        return tf.group(*assigns)

    def _variables(self, table: str) -> _Variables:
        if table not in self._tables:
            raise KeyError(
                f"{table!r} is no table of this container; it was made for {sorted(self._tables)}"
            )
        return self._tables[table]

    def _can_be(self, have: tf.DType, want: tf.DType) -> bool:
        return have == want or (self._cast and have.is_floating and want.is_floating)

    def _to_push(self, variables: _Variables, i: int, value: Any) -> tf.Tensor:
        tensor = tf.convert_to_tensor(value)
        dtype, shape = variables.dtypes[i], variables.shapes[i]
        if not (self._can_be(tensor.dtype, dtype) and shape.is_compatible_with(tensor.shape)):
            raise _invalid(variables.mismatch(i, tensor.dtype, tensor.shape))
        return tf.cast(tensor, dtype)

    def _check_variable(self, spec: _Variables, i: int, variable: Any) -> tf.TensorShape:
        """Returns the shape that a value for the variable must have; ValueError if there can be none."""
        if not (hasattr(variable, "assign") and hasattr(variable, "dtype")):
            raise ValueError(
                f"The leaf at '{spec.paths[i]}' must be a variable, got {type(variable).__name__}"
            )
        dtype, shape = tf.as_dtype(variable.dtype), tf.TensorShape(variable.shape)
        if not (self._can_be(spec.dtypes[i], dtype) and spec.shapes[i].is_compatible_with(shape)):
            raise ValueError(spec.mismatch(i, dtype, shape))
        return spec.shapes[i].merge_with(shape)

    @staticmethod
    def _dtypes(variables: _Variables, dtypes: Any) -> list[tf.DType]:
        if dtypes is None:
            return variables.dtypes
        if isinstance(dtypes, str | type | tf.DType) or hasattr(dtypes, "itemsize"):
            dtype = tf.as_dtype(dtypes)
            if not dtype.is_floating:
                raise ValueError(f"dtypes must be a floating point dtype or a nest, got {dtypes!r}")
            return [dtype if have.is_floating else have for have in variables.dtypes]
        try:
            wanted = [tf.as_dtype(dtype) for dtype in variables.leaves(dtypes)]
        except _nests.StructureError as error:
            raise ValueError(variables.structure_mismatch(error)) from None
        for i, (have, want) in enumerate(zip(variables.dtypes, wanted, strict=True)):
            if have != want and not (have.is_floating and want.is_floating):
                raise ValueError(variables.mismatch(i, want, variables.shapes[i]))
        return wanted

    def _pull(
        self, variables: _Variables, shapes: list[tf.TensorShape], timeout: float | None
    ) -> list[tf.Tensor]:
        if timeout is not None and not timeout >= 0:
            raise ValueError(f"timeout must be >= 0 or None, got {timeout}")
        return op_library.ops().reverb_variable_pull(
            handle=self._client.handle,
            table=variables.table,
            timeout_ms=tf.constant(-1 if timeout is None else int(timeout * 1000), tf.int64),
            Toutput_list=variables.dtypes,
            output_shapes=shapes,
            name="variable_container_pull",
        )

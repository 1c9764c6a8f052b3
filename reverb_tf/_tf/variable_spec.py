"""What a table of variables holds, and whether a nest of variables fits it."""

from typing import Any

import tensorflow as tf

from reverb_tf import _nests, reverb_types


def _invalid(message: str) -> tf.errors.InvalidArgumentError:
    return tf.errors.InvalidArgumentError(None, None, message)


class VariableSpec:
    """The signature of a table of variables. Immutable.

    Attributes:
      table: Its name.
      dtypes: Of the variables, in flattening order.
      shapes: Of the variables; they may be partly known.
      has_versions: Whether the server counts versions.
    """

    def __init__(self, table: str, info: reverb_types.TableInfo, cast: bool):
        """Describes a table.

        Args:
          table: Its name.
          info: Of it.
          cast: Whether a floating point dtype may stand for another.

        Raises:
          TypeError: The table has no signature, or one of something else.
        """
        try:
            pairs = [] if info.signature is None else _nests.specs(info.signature)
        except _nests.StructureError as error:
            raise TypeError(f"The signature of table {table!r}: {error}") from None
        if not pairs:
            raise TypeError(
                f"Table {table!r} needs a signature of its variables, got {info.signature!r}"
            )
        self.table = table
        self.dtypes = [tf.as_dtype(spec.dtype) for _, spec in pairs]
        self.shapes = [tf.TensorShape(spec.shape) for _, spec in pairs]
        self.has_versions = info.version is not None
        self._signature = info.signature
        self._paths = [path for path, _ in pairs]
        self._cast = cast

    def tensors(self, nest: Any) -> list[tf.Tensor]:
        """The values of a nest, cast where the table says so.

        Raises:
          tf.errors.InvalidArgumentError: They do not match the signature.
        """
        try:
            leaves = self._leaves(nest)
        except _nests.StructureError as error:
            raise _invalid(self._structure_mismatch(error)) from None
        return [self._tensor(i, leaf) for i, leaf in enumerate(leaves)]

    def variables(self, nest: Any) -> tuple[list[Any], list[tf.TensorShape]]:
        """The variables of a nest, and the shapes that values for them must have.

        Raises:
          ValueError: They do not match the signature.
        """
        try:
            leaves = self._leaves(nest)
        except _nests.StructureError as error:
            raise ValueError(self._structure_mismatch(error)) from None
        return leaves, [self._shape_for(i, leaf) for i, leaf in enumerate(leaves)]

    def target_dtypes(self, dtypes: Any) -> list[tf.DType]:
        """The dtypes that pulled values are cast to.

        Args:
          dtypes: None, a floating point dtype, or a nest of dtypes; see VariableContainer.pull.

        Raises:
          ValueError: They are nested in another way, or ask for a cast that is not between floating point dtypes.
        """
        if dtypes is None:
            return self.dtypes
        if not isinstance(dtypes, dict | list | tuple):
            dtype = tf.as_dtype(dtypes)
            if not dtype.is_floating:
                raise ValueError(f"dtypes must be a floating point dtype or a nest, got {dtypes!r}")
            return [dtype if have.is_floating else have for have in self.dtypes]
        try:
            wanted = [tf.as_dtype(dtype) for dtype in self._leaves(dtypes)]
        except _nests.StructureError as error:
            raise ValueError(self._structure_mismatch(error)) from None
        for i, (have, want) in enumerate(zip(self.dtypes, wanted, strict=True)):
            if have != want and not (have.is_floating and want.is_floating):
                raise ValueError(self._mismatch(i, want, self.shapes[i]))
        return wanted

    def nest(self, values: list[tf.Tensor], dtypes: list[tf.DType]) -> Any:
        """A nest like the signature, of values cast to those dtypes."""
        cast = [tf.cast(value, dtype) for value, dtype in zip(values, dtypes, strict=True)]
        return _nests.build(self._signature, cast)

    def _leaves(self, nest: Any) -> list[Any]:
        return [value for _, value in _nests.leaves(self._signature, nest)]

    def _structure_mismatch(self, error: Exception) -> str:
        return f"The variables are not nested like the signature of table {self.table!r}: {error}"

    def _mismatch(self, i: int, dtype: tf.DType, shape: tf.TensorShape) -> str:
        return (
            f"The variable at {self._paths[i]!r} is {dtype.name} {shape}, but the signature of table "
            f"{self.table!r} says {self.dtypes[i].name} {self.shapes[i]}"
        )

    def _accepts(self, i: int, dtype: tf.DType, shape: tf.TensorShape) -> bool:
        have = self.dtypes[i]
        cast = self._cast and have.is_floating and dtype.is_floating
        return (have == dtype or cast) and self.shapes[i].is_compatible_with(shape)

    def _tensor(self, i: int, value: Any) -> tf.Tensor:
        tensor = tf.convert_to_tensor(value)
        if not self._accepts(i, tensor.dtype, tensor.shape):
            raise _invalid(self._mismatch(i, tensor.dtype, tensor.shape))
        return tf.cast(tensor, self.dtypes[i])

    def _shape_for(self, i: int, variable: Any) -> tf.TensorShape:
        if not (hasattr(variable, "assign") and hasattr(variable, "dtype")):
            raise ValueError(
                f"The leaf at {self._paths[i]!r} must be a variable, got {type(variable).__name__}"
            )
        dtype, shape = tf.as_dtype(variable.dtype), tf.TensorShape(variable.shape)
        if not self._accepts(i, dtype, shape):
            raise ValueError(self._mismatch(i, dtype, shape))
        return self.shapes[i].merge_with(shape)

"""A `tf.data` dataset of the trajectories that patterns make of the steps of another dataset."""

from collections.abc import Callable, Sequence
from typing import Any

import tree

from reverb_tf import replay_sample, structured_writer
from reverb_tf._tf import nest, op_library
from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("reverb_tf.PatternDataset")

from tensorflow.python.data.ops import dataset_ops, structured_function  # noqa: E402


class PatternDataset(dataset_ops.UnaryDataset):
    """Makes the trajectories of a dataset of steps that a `StructuredWriter` would make items of.

    After each step, each config whose conditions hold gives one element, in the order of the configs; a pattern gives
    none before there are as many steps as it reaches back to. An element has the structure of the patterns: `x[-1]` is
    the value of a step as it is, `x[-3:]` the values of three steps along a new leading axis. Tables and priorities of
    the configs are not looked at. No server is involved.

    The last step of an episode is added before the episode ends, so that conditions on `is_end_episode` hold for it;
    the end of the input is no end of an episode.

    Works in eager mode and in `tf.function`.
    """

    def __init__(
        self,
        input_dataset: tf.data.Dataset,
        configs: Sequence[structured_writer.Config],
        respect_episode_boundaries: bool,
        is_end_of_episode: Callable[..., Any],
    ):
        """Describes the dataset.

        Args:
          input_dataset: the steps.
          configs: at least one, all with the same structure and table; see `structured_writer.create_config`.
          respect_episode_boundaries: True: no trajectory has steps of two episodes.
          is_end_of_episode: takes a step, as the function of `tf.data.Dataset.map` does, and returns a scalar bool:
            whether it is the last of its episode.

        Raises:
          ValueError: `is_end_of_episode` returns something else; the configs have different structures or tables, or
            use a column that the steps do not have.
          tf.errors.InvalidArgumentError: a config is invalid.
        """
        signature = structured_writer.infer_signature(configs, input_dataset.element_spec)
        self._element_spec = tree.map_structure(
            lambda spec: tf.TensorSpec(spec.shape, spec.dtype), nest.lists_to_tuples(signature)
        )
        self._is_end_of_episode = structured_function.StructuredFunctionWrapper(
            is_end_of_episode,
            "ReverbPatternDataset_IsEndOfEpisode",
            dataset=input_dataset,
            use_legacy_function=False,
        )
        output = self._is_end_of_episode.output_structure
        if output != tf.TensorSpec([], tf.bool):
            raise ValueError(f"is_end_of_episode must return a scalar bool, but returns {output}.")
        specs = tf.nest.flatten(self._element_spec)
        variant = op_library.ops().reverb_pattern_dataset(
            dataset=input_dataset._variant_tensor,
            other_arguments=self._is_end_of_episode.function.captured_inputs,
            clear_after_episode=respect_episode_boundaries,
            configs=[config.SerializeToString() for config in configs],
            is_end_of_episode=self._is_end_of_episode.function,
            dtypes=[spec.dtype for spec in specs],
            shapes=[spec.shape for spec in specs],
        )
        super().__init__(input_dataset, variant)

    def _functions(self) -> list[Any]:
        return [self._is_end_of_episode]

    @property
    def element_spec(self) -> Any:
        """Nest of `tf.TensorSpec`s with the structure of the patterns."""
        return self._element_spec


def pattern_dataset_with_info(
    input_dataset: tf.data.Dataset,
    configs: Sequence[structured_writer.Config],
    respect_episode_boundaries: bool,
    is_end_of_episode: Callable[..., Any],
) -> tf.data.Dataset:
    """A `PatternDataset` whose elements look as if they were sampled from a table.

    Args:
      input_dataset: see `PatternDataset`.
      configs: see `PatternDataset`.
      respect_episode_boundaries: see `PatternDataset`.
      is_end_of_episode: see `PatternDataset`.

    Returns:
      A dataset of `ReplaySample`s: `info` is `SampleInfo.zeros()`, `data` an element of the `PatternDataset`.

    Raises:
      ValueError: see `PatternDataset`.
    """
    dataset = PatternDataset(input_dataset, configs, respect_episode_boundaries, is_end_of_episode)

    def add_info(*data: Any) -> replay_sample.ReplaySample:
        # Of a tuple, tf.data makes several arguments.
        element = tf.nest.pack_sequence_as(dataset.element_spec, tf.nest.flatten(data))
        return replay_sample.ReplaySample(info=replay_sample.SampleInfo.zeros(), data=element)

    return dataset.map(add_info)

"""A `tf.data` dataset of the trajectories that are sampled from a table."""

from reverb_tf._tf.sample_dataset import SampleDataset


class TrajectoryDataset(SampleDataset):
    """Samples items from a table; each element is one whole trajectory.

    An element is a `ReplaySample`: `info` is a `SampleInfo` of scalars, `data` a nest of tensors, one for each column
    of the trajectory, with its length as the leading axis (squeezed columns have none).

    Works in eager mode, in `tf.function` and in v1 graphs (initializable and one-shot iterators). Nothing connects to
    the server before an iterator is created; that waits at most 30 s for the table's signature and fails with
    `tf.errors.InvalidArgumentError` when `dtypes` and `shapes` do not agree with it.
    """

    _OP_NAME = "reverb_trajectory_dataset"

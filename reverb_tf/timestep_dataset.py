"""A `tf.data` dataset of the steps of the items that are sampled from a table."""

from reverb_tf._tf.sample_dataset import SampleDataset


class TimestepDataset(SampleDataset):
    """Samples items from a table; each element is one step of an item.

    An element is a `ReplaySample`: `info` is a `SampleInfo` of scalars, `data` a nest of tensors without a time axis.
    The steps of an item follow one another in their order, each with the item's info; nothing marks where an item
    begins. An item whose columns differ in length has no steps: `tf.errors.InvalidArgumentError`.

    Works in eager mode, in `tf.function` and in v1 graphs (initializable and one-shot iterators). Nothing connects to
    the server before an iterator is created; that waits at most 30 s for the table's signature and fails with
    `tf.errors.InvalidArgumentError` when `dtypes` and `shapes` do not agree with it.
    """

    _OP_NAME = "reverb_timestep_dataset"

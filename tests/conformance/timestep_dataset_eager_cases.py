"""TimestepDataset in eager mode."""

import tensorflow as tf
from reverb import timestep_dataset

from tests.conformance import dataset_checks


class TimestepDatasetEagerTest(
    dataset_checks.MaxSamplesChecks, dataset_checks.EagerChecks, tf.test.TestCase
):
    dataset_class = timestep_dataset.TimestepDataset


if __name__ == "__main__":
    tf.test.main()

"""TrajectoryDataset in eager mode."""

import tensorflow as tf
from reverb import trajectory_dataset

from tests.conformance import dataset_checks


class TrajectoryDatasetEagerTest(
    dataset_checks.MaxSamplesChecks, dataset_checks.EagerChecks, tf.test.TestCase
):
    dataset_class = trajectory_dataset.TrajectoryDataset


if __name__ == "__main__":
    tf.test.main()

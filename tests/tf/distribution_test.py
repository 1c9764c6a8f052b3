"""The dataset under a distribution strategy with four virtual CPUs."""

import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import uniform_table


@pytest.fixture
def dataset(make_service):
    service = make_service(uniform_table("dist"))
    service.write("dist", range(10))

    def make(_=None):
        return reverb.TrajectoryDataset(
            service.address,
            "dist",
            dtypes=tf.int64,
            shapes=tf.TensorShape([None]),
            max_in_flight_samples_per_worker=1,
        )

    return make


@pytest.fixture
def strategy():
    if len(tf.config.list_logical_devices("CPU")) < 4:
        pytest.skip("TensorFlow was started with fewer than four virtual CPUs")
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(4)])


def test_distribute_datasets_from_function(dataset, strategy):
    distributed = strategy.distribute_datasets_from_function(
        lambda _: tf.data.Dataset.range(4).flat_map(dataset).take(2 * 4)
    )

    @tf.function
    def step(sample):
        return strategy.run(lambda s: s.data, args=(sample,))

    steps = [strategy.experimental_local_results(step(sample)) for sample in distributed]
    assert [len(replicas) for replicas in steps] == [4, 4]
    assert all(0 <= int(value[0]) < 10 for replicas in steps for value in replicas)


@pytest.mark.parametrize("policy", ["AUTO", "DATA", "OFF"])
def test_distribute_dataset(dataset, strategy, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[policy]
    batched = dataset().take(16).batch(8).with_options(options)
    steps = list(strategy.experimental_distribute_dataset(batched))
    assert len(steps) == 2
    for sample in steps:
        assert [len(v) for v in strategy.experimental_local_results(sample.data)] == [2] * 4

"""The datasets under a distribution strategy with four virtual CPUs."""

import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import dataset_of, uniform_table


@pytest.fixture(params=["TimestepDataset", "TrajectoryDataset"])
def dataset(make_service, request):
    service = make_service(uniform_table("dist"))
    service.write("dist", range(10))

    def make(_=None):
        return dataset_of(service, kind=getattr(reverb, request.param))

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
        return strategy.run(lambda s: s.data["x"], args=(sample,))

    steps = [strategy.experimental_local_results(step(sample)) for sample in distributed]
    assert [len(replicas) for replicas in steps] == [4, 4]
    assert all(0 <= int(tf.reshape(value, [1])[0]) < 10 for replicas in steps for value in replicas)


@pytest.mark.parametrize("policy", ["AUTO", "DATA", "OFF"])
def test_distribute_dataset(dataset, strategy, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[policy]
    batched = dataset().take(16).batch(8).with_options(options)
    steps = list(strategy.experimental_distribute_dataset(batched))
    assert len(steps) == 2
    for sample in steps:
        assert [len(v) for v in strategy.experimental_local_results(sample.data["x"])] == [2] * 4

"""TFClient with datasets in one v1 session, in a tf.while_loop, and in a step of a distribution strategy."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import dataset_of, uniform_table

v1 = tf.compat.v1

ONE = np.ones([1], np.float64)


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist", sampler=reverb.selectors.Prioritized(1.0), max_size=10_000),
        reverb.Table.queue("queue", 10_000),
        reverb.Table.queue("other", 10_000),
    )


def test_every_op_and_dataset_in_one_session(graph, service):
    client = reverb.TFClient(service.address)
    value = v1.placeholder(tf.int64, [])
    insert = client.insert([value], tf.constant(["dist", "queue", "other"]), np.ones([3]))
    batch = client.insert_batch({"x": tf.stack([value, value + 1])}, "dist", np.ones([2]))
    sample = client.sample("dist", {"x": tf.int64})
    samples = client.sample("dist", {"x": tf.int64}, num_samples=4, trajectories=True)
    keys = v1.placeholder(tf.uint64, [None])
    update = client.update_priorities("dist", keys, tf.fill(tf.shape(keys), tf.cast(2, tf.float64)))
    delete = client.delete("dist", keys)
    iterators = [
        v1.data.make_initializable_iterator(dataset_of(service, table=table, kind=kind))
        for table, kind in (("queue", reverb.TimestepDataset), ("other", reverb.TrajectoryDataset))
    ]
    elements = [iterator.get_next() for iterator in iterators]
    with v1.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        for i in range(20):
            session.run(insert, {value: i})
            inserted = session.run(batch, {value: i})
            assert session.run(sample).info.table_size == 3
            session.run(update, {keys: inserted})
            result = session.run(samples)
            assert result.data["x"].shape == (4, 1)
            for key, priority in zip(result.info.key, result.info.priority, strict=True):
                assert priority == (2.0 if key in inserted else 1.0)
            for element in session.run(elements):
                assert np.ravel(element.data["x"]).tolist() == [i]
            assert session.run(delete, {keys: inserted}) == 2
            left = [item.key for item in service.client.list_items("dist")]
            session.run(delete, {keys: left})


@pytest.mark.parametrize("parallel_iterations", [1, 10])
def test_a_thousand_rounds_of_a_while_loop(service, parallel_iterations):
    """Each round sees the one before: the ops of a client run in order without control dependencies."""
    client = reverb.TFClient(service.address)

    def body(i, total):
        keys = client.insert_batch([tf.stack([i, i])], "dist", np.ones([2], np.float64))
        client.insert([i], tf.constant(["queue"]), ONE)
        sample = client.sample("queue", [tf.int64], data_shapes=[[]])
        tf.debugging.assert_equal(sample.data[0], i)
        client.update_priorities("dist", keys, tf.constant([2.0, 3.0], tf.float64))
        seen = client.sample("dist", [tf.int64], num_samples=2).info
        deleted = client.delete("dist", keys[:1])
        return i + 1, total + deleted + tf.cast(tf.reduce_all(seen.table_size == i + 2), tf.int64)

    @tf.function
    def run(rounds):
        return tf.while_loop(
            lambda i, _: i < rounds,
            body,
            [tf.constant(0, tf.int64), tf.constant(0, tf.int64)],
            parallel_iterations=parallel_iterations,
        )

    rounds = 1000 if parallel_iterations == 1 else 100
    assert [int(x) for x in run(tf.constant(rounds, tf.int64))] == [rounds, 2 * rounds]
    items = list(service.client.list_items("dist"))
    assert [item.priority for item in items] == [3.0] * rounds


def test_a_distributed_step(service):
    """Each of four replicas samples, computes together with the others, and updates the priorities it saw."""
    if len(tf.config.list_logical_devices("CPU")) < 4:
        pytest.skip("TensorFlow was started with fewer than four virtual CPUs")
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(4)])
    client = reverb.TFClient(service.address)
    client.insert_batch([np.arange(100.0)], "dist", np.ones([100], np.float64))
    with strategy.scope():
        weight = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

    def replica_step():
        sample = client.sample("dist", [tf.float64], data_shapes=[[]], num_samples=8)
        weight.assign_add(tf.cast(tf.reduce_mean(sample.data[0]), tf.float32))
        client.update_priorities("dist", sample.info.key, 1.0 + sample.data[0])
        return tf.distribute.get_replica_context().all_reduce("sum", tf.ones([1], tf.int32))

    @tf.function
    def step():
        return strategy.run(replica_step)

    for _ in range(10):
        for value in strategy.experimental_local_results(step()):
            assert value.numpy().tolist() == [4]
    taken = 10 * 4 * 8
    assert service.samples_taken("dist") == taken
    items = list(service.client.list_items("dist"))
    changed = [item for item in items if item.priority != 1.0]
    assert changed
    assert sum(item.times_sampled for item in items) == taken
    assert weight.numpy() > 0

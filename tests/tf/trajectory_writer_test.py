"""TFTrajectoryWriter: what it writes, in every mode in which it is used."""

import collections

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import as_list, contents, uniform_table

v1 = tf.compat.v1

SPEC = {"x": tf.TensorSpec([], tf.int64), "y": tf.TensorSpec([2], tf.float32)}


@pytest.fixture
def service(make_service):
    return make_service(
        reverb.Table.queue("dist", 10_000),
        reverb.Table.queue("other", 100),
        uniform_table("uniform"),
    )


@pytest.fixture
def client(service):
    return reverb.TFClient(service.address)


def step(i):
    return {"x": tf.constant(i, tf.int64), "y": tf.fill([2], tf.cast(i, tf.float32))}


def x_of(items):
    return [item[0].tolist() for item in items]


# Items.


def test_last_steps(service, client):
    writer = client.trajectory_writer(SPEC, 3)
    for i in range(4):
        writer.append(step(i))
    key = writer.create_item("dist", 2.5, num_timesteps=3)
    writer.flush()
    (sample,) = service.client.sample("dist", emit_timesteps=False)
    assert as_list(sample.data) == [[1, 2, 3], [[1, 1], [2, 2], [3, 3]]]
    assert sample.info.key == int(key)
    assert sample.info.priority == 2.5
    assert key.dtype == tf.uint64 and key.shape == []


def test_slices(service, client):
    writer = client.trajectory_writer(SPEC, 5)
    for i in range(5):
        writer.append(step(i))
    history = writer.history
    trajectory = {
        "now": history["x"][-2],
        "next": history["x"][-1],
        "stack": history["y"][-4:-1],
        "first": [history["x"][0], history["x"][:2]],
        "tensors": history["x"][tf.constant(1) : tf.constant(-1, tf.int64)],
    }
    writer.create_item("dist", 1, trajectory)
    writer.flush()
    (item,) = contents(service, "dist")
    assert as_list(item) == [0, [0, 1], 4, 3, [[1, 1], [2, 2], [3, 3]], [1, 2, 3]]


def test_slices_are_clipped_and_short_episodes_can_be_skipped(service, client):
    writer = client.trajectory_writer(SPEC, 5)
    keys = []
    for i in range(3):
        writer.append(step(i))
        writer.create_item("dist", 1.0, [writer.history["x"][-2:]])
        keys.append(int(writer.create_item("other", 1.0, num_timesteps=2, skip_short=True)))
    writer.flush()
    assert x_of(contents(service, "dist")) == [[0], [0, 1], [1, 2]]
    assert x_of(contents(service, "other")) == [[0, 1], [1, 2]]
    assert keys[0] == 0 and 0 not in keys[1:]


def test_partial_steps(service, client):
    writer = client.trajectory_writer(SPEC, 2)
    writer.append({"x": 1}, partial_step=True)
    writer.create_item("dist", 1.0, [writer.history["x"][-1]])
    writer.append({"y": [1.0, 2.0]})
    writer.append({"x": 2, "y": None}, partial_step=True)
    writer.append({"x": None, "y": [3.0, 4.0]})
    writer.create_item("dist", 1.0, num_timesteps=2)
    writer.flush()
    first, second = contents(service, "dist")
    assert as_list(first) == [1]
    assert as_list(second) == [[1, 2], [[1, 2], [3, 4]]]


def test_nests(service, client):
    pair = collections.namedtuple("pair", "b a")
    spec = (pair(tf.TensorSpec([], tf.string), [tf.TensorSpec([1], tf.bool)]), {"z": SPEC["x"]})
    writer = client.trajectory_writer(spec, 1)
    writer.append((pair("text", [[True]]), {"z": 3}))
    writer.append((None, {"z": 4}), partial_step=True)
    writer.append((pair("more", [[False]]), {}))
    assert isinstance(writer.history[0], pair)
    writer.create_item("dist", 1.0, num_timesteps=1)
    writer.flush()
    (item,) = contents(service, "dist")
    assert as_list(item) == [[b"more"], [[False]], [4]]


def test_a_step_that_is_one_tensor(service, client):
    writer = client.trajectory_writer(tf.TensorSpec([None], tf.float64), 1)
    writer.append(np.array([1.0, 2.0]))
    writer.create_item("dist", 1.0, writer.history[-1])
    writer.flush()
    assert as_list(contents(service, "dist")[0]) == [[1.0, 2.0]]


def test_episodes(service, client):
    writer = client.trajectory_writer(SPEC, 4)
    writer.append(step(0))
    writer.end_episode(clear_buffers=False)
    writer.append(step(1))
    writer.create_item("dist", 1.0, num_timesteps=2)
    writer.end_episode()
    writer.append(step(2))
    writer.create_item("dist", 1.0, [writer.history["x"][:]])
    writer.append({"x": 3}, partial_step=True)
    writer.end_episode()
    writer.append(step(4))
    writer.create_item("dist", 1.0, num_timesteps=1)
    writer.flush()
    assert x_of(contents(service, "dist")) == [[0, 1], [2], [4]]


def test_a_mask_without_environments_is_a_condition(service, client):
    writer = client.trajectory_writer(SPEC, 1)
    for i in range(4):
        writer.append(step(i), mask=i % 2 == 0)
        writer.create_item("dist", 1.0, num_timesteps=1, mask=tf.constant(i < 3))
    writer.flush()
    assert x_of(contents(service, "dist")) == [[0], [0], [2]]


# Environments.


def batch(values):
    return {
        "x": tf.constant(values, tf.int64),
        "y": tf.constant([[v, v] for v in values], tf.float32),
    }


def test_environments_have_episodes_of_their_own(service, client):
    writer = client.trajectory_writer(SPEC, 3, batch_size=3)
    keys = []
    for i in range(4):
        writer.append(batch([10 + i, 20 + i, 30 + i]), mask=[True, i % 2 == 0, True])
        keys.append(writer.create_item("dist", 1.0, num_timesteps=2, skip_short=True).numpy())
        writer.end_episode(mask=[i == 1, False, False])
    writer.flush()
    items = sorted(x_of(contents(service, "dist")))
    # The second environment gets an item of the same steps where the mask left it out.
    assert items == [
        [10, 11], [12, 13], [20, 22], [20, 22], [30, 31], [31, 32], [32, 33],
    ]  # fmt: skip
    assert [(key != 0).tolist() for key in keys] == [
        [False, False, False],
        [True, False, True],
        [False, True, True],
        [True, True, True],
    ]


def test_tables_and_priorities_for_each_environment(service, client):
    writer = client.trajectory_writer(SPEC, 1, batch_size=3)
    writer.append(batch([1, 2, 3]))
    keys = writer.create_item(
        tf.constant(["dist", "other", "dist"]),
        tf.constant([1.0, 2.0, 3.0], tf.float64),
        [writer.history["x"][-1]],
        mask=[True, True, False],
    )
    writer.flush()
    for table, value, priority, key in (("dist", 1, 1.0, keys[0]), ("other", 2, 2.0, keys[1])):
        (sample,) = service.client.sample(table, emit_timesteps=False)
        assert (sample.data[0], sample.info.priority, sample.info.key) == (value, priority, key)
    assert keys.shape == [3] and keys[2] == 0


def test_partial_steps_of_environments(service, client):
    spec = {"x": SPEC["x"], "s": tf.TensorSpec([2], tf.string)}
    writer = client.trajectory_writer(spec, 1, batch_size=2)
    writer.append({"x": [1, 2]}, partial_step=True, mask=[True, False])
    writer.append({"x": [0, 3], "s": [["", ""], ["a", "b"]]}, mask=[False, True])
    writer.append({"s": [["c", "d"], ["", ""]]}, mask=[True, False])
    writer.create_item("dist", 1.0, num_timesteps=1)
    writer.flush()
    items = sorted(as_list(item) for item in contents(service, "dist"))
    assert items == [[[[b"a", b"b"]], [3]], [[[b"c", b"d"]], [1]]]


# Modes of use.


def test_a_thousand_steps_in_a_while_loop(service, client):
    writer = client.trajectory_writer(SPEC, 2, max_chunk_length=1)

    @tf.function
    def run(steps):
        for i in tf.range(steps):
            writer.append({"x": i, "y": tf.zeros([2])})
            writer.create_item("dist", tf.cast(i, tf.float64), num_timesteps=2, skip_short=True)
        writer.flush()

    run(tf.constant(1001, tf.int64))
    assert x_of(contents(service, "dist")) == [[i, i + 1] for i in range(1000)]


def test_order_with_the_client_in_a_loop(service, client):
    """Each sample sees the items that were flushed before it, and none that come after it."""
    writer = client.trajectory_writer({"x": SPEC["x"]}, 1)

    @tf.function
    def run(steps):
        sizes = tf.TensorArray(tf.int64, steps)
        for i in tf.range(steps):
            writer.append({"x": tf.cast(i, tf.int64)})
            writer.create_item("uniform", 1.0, num_timesteps=1)
            writer.flush()
            sizes = sizes.write(i, client.sample("uniform", [tf.int64]).info.table_size)
        return sizes.stack()

    assert run(tf.constant(200)).numpy().tolist() == list(range(1, 201))


def test_order_with_the_client_in_a_function(service, client):
    writer = client.trajectory_writer({"x": SPEC["x"]}, 1)

    @tf.function
    def run(value):
        writer.append({"x": value})
        key = writer.create_item("uniform", 1.0, [writer.history["x"][-1]])
        writer.flush()
        sample = client.sample("uniform", [tf.int64], data_shapes=[[]])
        client.update_priorities("uniform", [key], tf.constant([5.0], tf.float64))
        return key, sample.info.key, client.sample("uniform", [tf.int64]).info.priority

    key, sampled, priority = run(tf.constant(7, tf.int64))
    assert (int(sampled), float(priority)) == (int(key), 5.0)


def test_v1_session(service, graph):
    client = reverb.TFClient(service.address)
    writer = client.trajectory_writer(SPEC, 2, batch_size=2)
    x = v1.placeholder(tf.int64, [2])
    append = writer.append({"x": x, "y": tf.zeros([2, 2])})
    assert isinstance(append, tf.Operation)
    with tf.control_dependencies([append]):
        keys = writer.create_item("dist", 1.0, [writer.history["x"][-1:]])
    with tf.control_dependencies([keys]):
        end = writer.end_episode(mask=x > 2)
    with v1.Session() as session:
        for values in ([1, 2], [3, 2], [5, 6]):
            result, _ = session.run([keys, end], {x: values})
            assert result.dtype == np.uint64 and 0 not in result
        session.run(writer.flush())
    assert sorted(x_of(contents(service, "dist"))) == [[1], [2], [2], [3], [5], [6]]


def test_v1_loop_with_parallel_iterations(service, graph):
    writer = reverb.TFTrajectoryWriter(service.address, {"x": SPEC["x"]}, 1)

    def body(i):
        with tf.control_dependencies([writer.append({"x": i})]):
            keys = writer.create_item("dist", 1.0, num_timesteps=1)
        with tf.control_dependencies([keys]):
            return tf.identity(i) + 1

    with tf.control_dependencies(
        [v1.while_loop(lambda i: i < 300, body, [tf.constant(0, tf.int64)], parallel_iterations=8)]
    ):
        flush = writer.flush()
    with v1.Session() as session:
        session.run(flush)
    assert x_of(contents(service, "dist")) == [[i] for i in range(300)]


def test_ops_at_the_same_time(service, graph):
    writer = reverb.TFTrajectoryWriter(service.address, {"x": SPEC["x"]}, 1)
    x = v1.placeholder(tf.int64, [])
    with tf.control_dependencies([writer.append({"x": x})]):
        first = [writer.create_item("dist", 1.0, num_timesteps=1) for _ in range(8)]
    appends = [writer.append({"x": x}) for _ in range(8)]
    flushes = [writer.flush() for _ in range(4)]
    with v1.Session() as session:
        session.run(writer.append({"x": x}), {x: 0})
        for i in range(50):
            keys, _ = session.run([first, appends + flushes], {x: i})
            assert len(set(keys)) == 8
        session.run(writer.flush())
    assert service.client.server_info(timeout=10)["dist"].current_size == 400


def test_a_writer_made_in_a_function(service):
    @tf.function
    def run(value):
        writer = reverb.TFTrajectoryWriter(service.address, {"x": SPEC["x"]}, 1)
        writer.append({"x": value})
        writer.create_item("dist", 1.0, num_timesteps=1)
        writer.flush()

    run(tf.constant(1, tf.int64))
    run(tf.constant(2, tf.int64))
    assert x_of(contents(service, "dist")) == [[1], [2]]


def test_a_shared_name_is_one_writer(service):
    name = f"one writer to {service.address}"
    first, second = (
        reverb.TFTrajectoryWriter(service.address, SPEC, 2, shared_name=name) for _ in range(2)
    )
    first.append(step(1))
    second.append(step(2))
    first.create_item("dist", 1.0, num_timesteps=2)
    second.flush()
    assert x_of(contents(service, "dist")) == [[1, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shared_name"):
        reverb.TFTrajectoryWriter(service.address, {"x": SPEC["x"]}, 2, shared_name=name)


def test_writers_survive_a_cleared_cache_of_kernels(service, client):
    writers = [client.trajectory_writer({"x": SPEC["x"]}, 2) for _ in range(2)]
    for i, writer in enumerate(writers):
        writer.append({"x": i})
    tf.random.set_seed(1)
    for i, writer in enumerate(writers):
        writer.append({"x": i})
        writer.create_item("dist", 1.0, num_timesteps=2)
        writer.flush()
    assert x_of(contents(service, "dist")) == [[0, 0], [1, 1]]


def test_properties(service, client):
    writer = client.trajectory_writer(SPEC, 1, batch_size=3)
    assert (writer.server_address, writer.batch_size) == (service.address, 3)
    assert service.address in repr(writer)
    assert reverb.TFTrajectoryWriter(service.address, SPEC, 1).batch_size is None


def test_static_shapes(service, graph):
    client = reverb.TFClient(service.address)
    single = client.trajectory_writer(SPEC, 1)
    assert single.create_item("dist", 1.0, num_timesteps=1).shape == []
    batched = client.trajectory_writer(SPEC, 1, batch_size=5)
    assert batched.create_item("dist", 1.0, num_timesteps=1).shape == [5]

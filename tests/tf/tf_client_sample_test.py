"""TFClient.sample in v1 graphs and eager mode."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import uniform_table, wait_until_blocked

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist", sampler=reverb.selectors.Prioritized(1.0)),
        uniform_table("dist2"),
    )


def test_sample_returns_the_metadata_of_the_item(service, graph):
    service.client.insert([np.int64(3)], {"dist": 1.5})
    sample = reverb.TFClient(service.address).sample("dist", [tf.int64])
    with v1.Session() as session:
        result = session.run(sample)
        again = session.run(sample)
    assert isinstance(result, reverb.ReplaySample)
    assert isinstance(result.info, reverb.SampleInfo)
    assert result.info.key.dtype == np.uint64
    assert result.info.probability == 1.0
    assert result.info.table_size == 1
    assert result.info.priority == 1.5
    assert result.info.times_sampled == 1
    assert again.info.times_sampled == 2
    assert result.data == [3]


def test_probability_of_a_prioritized_item(service, graph):
    service.client.insert([np.int64(1)], {"dist": 3.0})
    service.client.insert([np.int64(2)], {"dist": 1.0})
    sample = reverb.TFClient(service.address).sample("dist", [tf.int64])
    with v1.Session() as session:
        for _ in range(10):
            result = session.run(sample)
            assert result.info.probability == {1: 0.75, 2: 0.25}[int(result.data[0])]


def test_table_size_after_insert_is_seen_by_the_next_sample(service, graph):
    client = reverb.TFClient(service.address)
    sample = client.sample("dist", [tf.int64])
    insert = client.insert(
        [tf.constant(1, tf.int64)], tf.constant(["dist"]), tf.constant([1.0], tf.float64)
    )
    with v1.Session() as session:
        for size in range(1, 11):
            session.run(insert)
            assert session.run(sample).info.table_size == size


def test_one_sample_takes_one_item(make_service, graph):
    service = make_service(reverb.Table.queue("queue", 100))
    for i in range(5):
        service.client.insert([np.int64(i)], {"queue": 1.0})
    sample = reverb.TFClient(service.address).sample("queue", [tf.int64])
    with v1.Session() as session:
        for i in range(3):
            assert session.run(sample).data[0] == i
            assert service.samples_taken("queue") == i + 1
    assert next(service.client.sample("queue"))[0].data[0] == 3


def test_sample_takes_the_first_step_of_a_trajectory(service, graph):
    with service.client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for i in range(3):
            writer.append({"a": np.full([2], i, np.float32), "s": f"step {i}"})
        writer.create_item(
            table="dist2",
            priority=1.0,
            trajectory={"a": writer.history["a"][:], "s": writer.history["s"][:]},
        )
        writer.flush()
    client = reverb.TFClient(service.address)
    sample = client.sample("dist2", {"a": tf.float32, "s": tf.string})
    with v1.Session() as session:
        result = session.run(sample)
    np.testing.assert_array_equal(result.data["a"], np.zeros([2], np.float32))
    assert result.data["s"] == b"step 0"


def test_columns_of_different_length_have_no_steps(service, graph):
    with service.client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for i in range(3):
            writer.append({"a": np.float32(i), "b": np.float32(i)})
        writer.create_item(
            table="dist2",
            priority=1.0,
            trajectory={"a": writer.history["a"][:], "b": writer.history["b"][-1:]},
        )
        writer.flush()
    sample = reverb.TFClient(service.address).sample("dist2", {"a": tf.float32, "b": tf.float32})
    with v1.Session() as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="cannot be decomposed into timesteps"
        ):
            session.run(sample)


@pytest.mark.parametrize(
    "dtype",
    [
        tf.bool, tf.uint8, tf.int8, tf.uint16, tf.int16, tf.uint32, tf.int32, tf.uint64, tf.int64, tf.float16,
        tf.float32, tf.float64, tf.complex64, tf.complex128, tf.bfloat16, tf.string,
    ],
)  # fmt: skip
def test_every_dtype_comes_back_equal(service, dtype):
    client = reverb.TFClient(service.address)
    if dtype == tf.string:
        value = tf.constant([[b"", b"a\0b"], ["ü", "x" * 1000]])
    else:
        value = tf.cast(tf.constant([[0, 1], [1, 0]]), dtype)
    client.insert([value], tf.constant(["dist"]), tf.constant([1.0], tf.float64))
    data = client.sample("dist", dtype).data
    assert data.dtype == dtype
    assert tf.reduce_all(data == value)


def test_empty_and_large_tensors(service):
    client = reverb.TFClient(service.address)
    values = [np.zeros([0, 3], np.float32), np.random.default_rng(0).bytes(1 << 20)]
    client.insert(values, tf.constant(["dist"]), tf.constant([1.0], tf.float64))
    empty, large = client.sample("dist", [tf.float32, tf.string]).data
    assert empty.shape == (0, 3)
    assert large.numpy() == values[1]


def test_wrong_dtype_in_a_graph_is_an_internal_error(service, graph):
    service.client.insert([np.int64(3)], {"dist": 1.0})
    sample = reverb.TFClient(service.address).sample("dist", [tf.float32])
    with v1.Session() as session:
        with pytest.raises(tf.errors.InternalError):
            session.run(sample)


def test_wrong_dtype_in_eager_mode_is_an_invalid_argument(service):
    service.client.insert([np.int64(3)], {"dist": 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError):
        reverb.TFClient(service.address).sample("dist", [tf.float32])


def test_wrong_number_of_columns(service):
    service.client.insert([np.int64(3), np.int64(4)], {"dist": 1.0})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Received 2 tensors, but 1 were requested"
    ):
        reverb.TFClient(service.address).sample("dist", [tf.int64])


def test_unknown_table_is_not_found(service, graph):
    sample = reverb.TFClient(service.address).sample("missing", [tf.int64])
    with v1.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            session.run(sample)
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            session.run(sample)


def test_blocked_sample_is_satisfied_by_a_later_insert(service, graph, in_thread):
    sample = reverb.TFClient(service.address).sample("dist", [tf.int64])
    with v1.Session() as session:
        blocked = in_thread(lambda: session.run(sample))
        wait_until_blocked(blocked)
        service.client.insert([np.int64(7)], {"dist": 1.0})
        assert blocked.result().data == [7]


def test_many_blocked_samples_hold_no_thread(make_service, graph, in_thread):
    service = make_service(reverb.Table.queue("queue", 100))
    client = reverb.TFClient(service.address)
    samples = [client.sample("queue", [tf.int64]).data[0] for _ in range(40)]
    config = v1.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
    with v1.Session(config=config) as session:
        blocked = in_thread(lambda: session.run(samples))
        wait_until_blocked(blocked)
        # The session's only thread is free for others.
        assert session.run(tf.constant(1) + 1) == 2
        for i in range(40):
            service.client.insert([np.int64(i)], {"queue": 1.0})
        assert sorted(blocked.result()) == list(range(40))


def test_static_shapes_can_be_given(service, graph):
    service.client.insert([np.zeros([2, 3], np.float32)], {"dist": 1.0})
    client = reverb.TFClient(service.address)
    sample = client.sample("dist", {"x": tf.float32}, data_shapes={"x": [None, 3]})
    assert sample.data["x"].shape.as_list() == [None, 3]
    wrong = client.sample("dist", {"x": tf.float32}, data_shapes={"x": [4]})
    with v1.Session() as session:
        assert session.run(sample).data["x"].shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2,3\].*\[4\]"):
            session.run(wrong)

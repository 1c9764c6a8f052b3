"""TimestepDataset in v1 graphs and eager mode: content and ends of the sequence."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reverb_tf as reverb
from tests.tf import support
from tests.tf.support import as_list, first, inside_another, uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(uniform_table("dist"), reverb.Table.queue("queue", 100))


def steps_of(service, table="dist", **options):
    return support.dataset_of(service, table, kind=reverb.TimestepDataset, **options)


def write_episode(service, table, length, priority=1.0):
    """Writes an item of the steps {"x": 0}, {"x": 1}, ... and one of their last two."""
    with service.client.trajectory_writer(num_keep_alive_refs=length) as writer:
        for i in range(length):
            writer.append({"x": np.int64(i)})
        for first_step in (0, length - 2):
            trajectory = {"x": writer.history["x"][first_step:]}
            writer.create_item(table=table, priority=priority, trajectory=trajectory)
        writer.flush()


# Content.


def test_elements_are_replay_samples(service, graph):
    service.write("dist", [np.int64(5)], length=3, priority=2.0)
    element = first(steps_of(service))
    assert isinstance(element, reverb.ReplaySample)
    assert isinstance(element.info, reverb.SampleInfo)
    assert isinstance(element.info.key, np.uint64)
    assert isinstance(element.info.probability, np.float64)
    assert element.info.table_size == 1
    assert element.info.priority == 2.0
    assert element.info.times_sampled >= 1
    assert element.data["x"] == 5


@pytest.mark.parametrize("in_flight", [1, 5])
def test_steps_of_an_item_follow_one_another(service, in_flight):
    for length in (4, 3):
        write_episode(service, "queue", length)
    dataset = steps_of(service, "queue", max_samples=4, max_in_flight_samples_per_worker=in_flight)
    elements = list(dataset)
    assert as_list(e.data["x"] for e in elements) == [0, 1, 2, 3, 2, 3, 0, 1, 2, 1, 2]
    keys = [int(e.info.key) for e in elements]
    assert [keys.index(key) for key in keys] == [0, 0, 0, 0, 4, 4, 6, 6, 6, 9, 9]


def test_steps_in_a_graph(service, graph):
    write_episode(service, "queue", 3)
    element = v1.data.make_one_shot_iterator(steps_of(service, "queue", max_samples=2)).get_next()
    with v1.Session() as session:
        values = [int(session.run(element).data["x"]) for _ in range(5)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
    assert values == [0, 1, 2, 1, 2]


def test_batches_across_items(service):
    for _ in range(3):
        write_episode(service, "queue", 3)
    dataset = steps_of(service, "queue", max_samples=6).batch(4)
    assert as_list(e.data["x"] for e in dataset) == [
        [0, 1, 2, 1],
        [2, 0, 1, 2],
        [1, 2, 0, 1],
        [2, 1, 2],
    ]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_columns_of_every_dtype_come_back(service, data):
    length = data.draw(st.integers(1, 5))
    columns = {}
    for i in range(data.draw(st.integers(1, 4))):
        dtype = data.draw(
            st.sampled_from(
                ["bool", "uint8", "int16", "int64", "float16", "float64", "complex64", "S"]
            )
        )
        shape = data.draw(st.lists(st.integers(0, 3), max_size=2))
        values = np.arange(length * int(np.prod(shape))).reshape([length, *shape])
        columns[f"c{i}"] = (
            values.astype(dtype) if dtype != "S" else values.astype(str).astype(object)
        )
    with service.client.trajectory_writer(num_keep_alive_refs=length) as writer:
        for row in range(length):
            writer.append({name: values[row] for name, values in columns.items()})
        trajectory = {name: writer.history[name][:] for name in columns}
        writer.create_item(table="queue", priority=1.0, trajectory=trajectory)
        writer.flush()
    dtypes = {
        name: tf.string if values.dtype == object else tf.as_dtype(values.dtype)
        for name, values in columns.items()
    }
    shapes = {name: tf.TensorShape(values.shape[1:]) for name, values in columns.items()}
    elements = list(steps_of(service, "queue", dtypes=dtypes, shapes=shapes, max_samples=1))
    assert len(elements) == length
    for name, values in columns.items():
        got = np.stack([e.data[name].numpy() for e in elements])
        if values.dtype == object:
            values = np.vectorize(str.encode, otypes=[object])(values)
        np.testing.assert_array_equal(got, values)


def test_squeezed_columns_and_nested_data(service):
    with service.client.trajectory_writer(num_keep_alive_refs=2) as writer:
        for i in range(2):
            writer.append({"a": np.full([2], i, np.float32), "b": f"step {i}"})
        history = writer.history
        trajectory = {"x": (history["a"][-1], {"y": history["b"][-1:]})}
        writer.create_item(table="queue", priority=1.0, trajectory=trajectory)
        writer.flush()
    dataset = steps_of(
        service,
        "queue",
        dtypes={"x": [tf.float32, {"y": tf.string}]},
        shapes={"x": [tf.TensorShape([2]), {"y": tf.TensorShape([])}]},
        max_samples=1,
    )
    (element,) = dataset
    assert element.data["x"][0].numpy().tolist() == [1, 1]
    assert element.data["x"][1]["y"].numpy() == b"step 1"


def test_large_steps(service):
    values = np.random.default_rng(0).normal(size=[3, 100_000])
    with service.client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for value in values:
            writer.append({"x": value})
        writer.create_item(table="queue", priority=1.0, trajectory={"x": writer.history["x"][:]})
        writer.flush()
    dataset = steps_of(
        service,
        "queue",
        dtypes={"x": tf.float64},
        shapes={"x": tf.TensorShape([100_000])},
        max_samples=1,
    ).batch(3)
    (batch,) = dataset
    np.testing.assert_array_equal(batch.data["x"], values)


def test_several_iterators(service, graph):
    service.write("dist", range(10), length=2)
    dataset = steps_of(service)
    iterators = [v1.data.make_initializable_iterator(dataset) for _ in range(3)]
    elements = [iterator.get_next() for iterator in iterators]
    with v1.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        for _ in range(20):
            for element in session.run(elements):
                assert 0 <= element.data["x"] < 10


def test_in_a_function(service):
    write_episode(service, "queue", 4)
    dataset = steps_of(service, "queue", max_samples=2)

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for sample in dataset.batch(2):
            result += tf.reduce_sum(sample.data["x"])
        return result

    assert total() == 0 + 1 + 2 + 3 + 2 + 3


@pytest.mark.parametrize("combine", ["flat_map", "interleave"])
def test_inside_another_dataset(service, combine):
    write_episode(service, "dist", 2)
    dataset = inside_another(combine, lambda _: steps_of(service, max_samples=2))
    assert sorted(as_list(e.data["x"] for e in dataset)) == [0] * 6 + [1] * 6


def test_columns_of_different_length_have_no_steps(service, graph):
    with service.client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for i in range(3):
            writer.append({"a": np.float32(i), "b": np.float32(i)})
        history = writer.history
        writer.create_item(
            table="dist", priority=1.0, trajectory={"a": history["a"][:], "b": history["b"][-1]}
        )
        writer.flush()
    dataset = steps_of(service, dtypes=(tf.float32, tf.float32), shapes=(tf.TensorShape([]),) * 2)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="table 'dist' cannot be decomposed into timesteps"
    ):
        first(dataset)


def test_an_iterator_used_by_several_threads(service, graph, in_thread):
    """Each step goes to one of them, and none is lost."""
    for _ in range(20):
        write_episode(service, "queue", 3)
    iterator = v1.data.make_initializable_iterator(steps_of(service, "queue", max_samples=40))
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)

        def read():
            got = []
            while True:
                try:
                    step = session.run(element)
                except tf.errors.OutOfRangeError:
                    return got
                got.append((int(step.info.key), int(step.data["x"])))

        readers = [in_thread(read) for _ in range(4)]
        steps = sorted(step for reader in readers for step in reader.result())
    keys = list(dict.fromkeys(key for key, _ in steps))
    values = [tuple(value for key, value in steps if key == k) for k in keys]
    assert sorted(values) == [(0, 1, 2)] * 20 + [(1, 2)] * 20


# Number of samples.


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("in_flight", [1, 5])
@pytest.mark.parametrize("length", [1, 3])
def test_max_samples_counts_items_and_is_exact(service, workers, in_flight, length):
    service.write("queue", range(10), length=length)
    dataset = steps_of(
        service,
        "queue",
        max_samples=4,
        num_workers_per_iterator=workers,
        max_in_flight_samples_per_worker=in_flight,
    )
    values = sorted(int(e.data["x"]) for e in dataset)
    assert values == sorted(list(range(4)) * length)
    assert next(service.client.sample("queue"))[0].data[0] == 4
    assert service.samples_taken("queue") == 5


def test_max_samples_starts_again_with_each_iteration(service):
    service.write("queue", range(10), length=2)
    dataset = steps_of(service, "queue", max_samples=2).repeat(3)
    assert as_list(e.data["x"] for e in dataset) == [i // 2 for i in range(12)]


@pytest.mark.parametrize("in_flight", [1, 3, 7])
def test_samples_in_flight_are_bounded(service, graph, in_flight):
    service.write("dist", range(50), length=2)
    dataset = steps_of(service, max_in_flight_samples_per_worker=in_flight)
    # TensorFlow would read ahead on its own account.
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    iterator = v1.data.make_initializable_iterator(dataset.with_options(options))
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        for i in range(40):
            session.run(element)
            items = i // 2 + 1
            assert items <= service.samples_taken("dist") <= items + in_flight


# Timeouts.


@pytest.mark.parametrize("timeout_ms", [0, 1000, 2000])
def test_timeout_ends_the_sequence(service, graph, timeout_ms):
    service.write("queue", [7], length=2)
    iterator = v1.data.make_initializable_iterator(
        steps_of(service, "queue", rate_limiter_timeout_ms=timeout_ms)
    )
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(element).data["x"] for _ in range(2)] == [7, 7]
        for _ in range(2):  # it stays ended
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
        # Another iteration has what came since.
        service.write("queue", [8])
        session.run(iterator.initializer)
        assert session.run(element).data["x"] == 8

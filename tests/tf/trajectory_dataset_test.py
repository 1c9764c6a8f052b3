"""TrajectoryDataset in v1 graphs and eager mode: content and ends of the sequence."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import as_list, dataset_of, first, inside_another, uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist"),
        reverb.Table.queue("queue", 100),
    )


# Content.


def test_elements_are_replay_samples(service, graph):
    service.write("dist", [np.int64(5)], length=3, priority=2.0)
    element = first(dataset_of(service))
    assert isinstance(element, reverb.ReplaySample)
    assert isinstance(element.info, reverb.SampleInfo)
    assert isinstance(element.info.key, np.uint64)
    assert isinstance(element.info.probability, np.float64)
    assert element.info.table_size == 1
    assert element.info.priority == 2.0
    assert element.info.times_sampled >= 1
    np.testing.assert_array_equal(element.data["x"], [5, 5, 5])


def test_trajectories_of_different_length(service):
    for length in (1, 2, 5):
        service.write("queue", [np.int64(length)], length=length)
    dataset = dataset_of(service, "queue", max_samples=3)
    assert as_list(e.data["x"] for e in dataset) == [[1], [2, 2], [5] * 5]


def test_every_kind_of_column(service):
    with service.client.trajectory_writer(num_keep_alive_refs=4) as writer:
        for i in range(4):
            writer.append(
                {
                    "scalar": np.float32(i),
                    "image": np.full([2, 3], i, np.uint8),
                    "text": f"step {i}",
                    "empty": np.zeros([0], np.float64),
                }
            )
        writer.create_item(
            table="dist",
            priority=1.0,
            trajectory={
                "scalars": writer.history["scalar"][1:],
                "image": writer.history["image"][-1],
                "reverse": writer.history["scalar"][::-1],
                "text": writer.history["text"][:2],
                "word": writer.history["text"][2],
                "empty": writer.history["empty"][:],
            },
        )
        writer.flush()
    dtypes = {
        "empty": tf.float64, "image": tf.uint8, "reverse": tf.float32, "scalars": tf.float32,
        "text": tf.string, "word": tf.string,
    }  # fmt: skip
    dataset = dataset_of(
        service,
        dtypes=dtypes,
        shapes={key: tf.TensorShape(None) for key in dtypes},
        max_samples=1,
    )
    (element,) = dataset
    assert as_list(element.data[key] for key in ("scalars", "image", "reverse", "empty")) == [
        [1, 2, 3],
        [[3, 3, 3], [3, 3, 3]],
        [3, 2, 1, 0],
        [[], [], [], []],
    ]
    assert element.data["text"].numpy().tolist() == [b"step 0", b"step 1"]
    assert element.data["word"].numpy() == b"step 2"


def test_large_elements_batched(service):
    values = np.random.default_rng(0).normal(size=[4, 50_000])
    service.write("queue", list(values), length=2)
    dataset = dataset_of(
        service,
        "queue",
        dtypes={"x": tf.float64},
        shapes={"x": tf.TensorShape([2, 50_000])},
        max_in_flight_samples_per_worker=4,
        max_samples=4,
    ).batch(4)
    (batch,) = dataset
    np.testing.assert_array_equal(batch.data["x"], np.stack([values, values], axis=1))


def test_several_iterators(service, graph):
    service.write("dist", range(10))
    dataset = dataset_of(service)
    iterators = [v1.data.make_initializable_iterator(dataset) for _ in range(3)]
    elements = [iterator.get_next() for iterator in iterators]
    with v1.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        for _ in range(20):
            for element in session.run(elements):
                assert 0 <= element.data["x"][0] < 10


def test_one_shot_iterator(service, graph):
    service.write("dist", [3])
    element = v1.data.make_one_shot_iterator(dataset_of(service)).get_next()
    with v1.Session() as session:
        assert session.run(element).data["x"] == [3]


def test_in_a_function(service):
    service.write("queue", range(6))
    dataset = dataset_of(service, "queue", max_samples=6)

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for sample in dataset.batch(2):
            result += tf.reduce_sum(sample.data["x"])
        return result

    assert total() == 15


@pytest.mark.parametrize("combine", ["flat_map", "interleave"])
def test_inside_another_dataset(service, combine):
    service.write("dist", range(10))
    dataset = inside_another(combine, lambda _: dataset_of(service, max_samples=2))
    assert len(list(dataset)) == 6


def test_table_and_address_as_tensors(service):
    service.write("dist", [1])
    service.write("queue", [2])

    def inner(table):
        return reverb.TrajectoryDataset(
            tf.constant(service.address),
            table,
            dtypes=tf.int64,
            shapes=tf.TensorShape([None]),
            max_in_flight_samples_per_worker=1,
            max_samples=1,
        )

    dataset = tf.data.Dataset.from_tensor_slices(["dist", "queue"]).flat_map(inner)
    assert as_list(e.data for e in dataset) == [[1], [2]]


# Number of samples.


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("in_flight", [1, 5])
@pytest.mark.parametrize("per_stream", [-1, 2])
def test_max_samples_is_exact(service, workers, in_flight, per_stream):
    service.write("queue", range(10))
    dataset = dataset_of(
        service,
        "queue",
        max_samples=4,
        num_workers_per_iterator=workers,
        max_in_flight_samples_per_worker=in_flight,
        max_samples_per_stream=per_stream,
    )
    values = sorted(int(e.data["x"][0]) for e in dataset)
    assert values == [0, 1, 2, 3]
    assert next(service.client.sample("queue"))[0].data[0] == 4
    assert service.samples_taken("queue") == 5


def test_max_samples_starts_again_with_each_iteration(service):
    service.write("queue", range(10))
    dataset = dataset_of(service, "queue", max_samples=2).repeat(3)
    assert as_list(e.data["x"] for e in dataset) == [[i] for i in range(6)]


@pytest.mark.parametrize("in_flight", [1, 3, 7])
def test_samples_in_flight_are_bounded(service, graph, in_flight):
    service.write("dist", range(50))
    dataset = dataset_of(service, max_in_flight_samples_per_worker=in_flight)
    # TensorFlow would read ahead on its own account.
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    iterator = v1.data.make_initializable_iterator(dataset.with_options(options))
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        for i in range(1, 21):
            session.run(element)
            assert i <= service.samples_taken("dist") <= i + in_flight


@pytest.mark.parametrize("in_flight", [1, 5])
def test_fifo_order_with_one_worker(service, in_flight):
    service.write("queue", range(50))
    dataset = dataset_of(
        service,
        "queue",
        max_in_flight_samples_per_worker=in_flight,
        max_samples_per_stream=7,
        max_samples=50,
    )
    assert as_list(e.data["x"] for e in dataset) == [[i] for i in range(50)]


# Timeouts.


@pytest.mark.parametrize("timeout_ms", [0, 1000, 2000])
def test_timeout_ends_the_sequence(service, graph, timeout_ms):
    iterator = v1.data.make_initializable_iterator(
        dataset_of(service, rate_limiter_timeout_ms=timeout_ms)
    )
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        # It stays ended.
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


@pytest.mark.parametrize("timeout_ms", [0, 1000])
@pytest.mark.parametrize("in_flight", [1, 3, 10])
def test_what_is_there_comes_before_the_timeout(service, timeout_ms, in_flight):
    service.write("queue", range(5))
    dataset = dataset_of(
        service,
        "queue",
        rate_limiter_timeout_ms=timeout_ms,
        max_in_flight_samples_per_worker=in_flight,
    )
    assert as_list(e.data["x"] for e in dataset) == [[i] for i in range(5)]

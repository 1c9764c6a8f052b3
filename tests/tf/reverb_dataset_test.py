"""ReverbDataset of one server: content, batches, ends of the sequence, where it can be used."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import as_list, first, inside_another, reverb_dataset_of, uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(uniform_table("dist"), reverb.Table.queue("queue", 100))


# Content.


def test_batches_are_replay_samples(service, graph):
    service.write("queue", range(4), length=2, priority=2.0)
    element = first(reverb_dataset_of(service, "queue", batch_size=4))
    assert isinstance(element, reverb.ReplaySample)
    assert isinstance(element.info, reverb.SampleInfo)
    assert element.info.key.dtype == np.uint64
    assert len(set(element.info.key.tolist())) == 4
    np.testing.assert_array_equal(element.info.probability, [1.0] * 4)
    np.testing.assert_array_equal(element.info.table_size, [4, 3, 2, 1])
    np.testing.assert_array_equal(element.info.priority, [2.0] * 4)
    np.testing.assert_array_equal(element.info.times_sampled, [1] * 4)
    np.testing.assert_array_equal(element.data["x"], [[0, 0], [1, 1], [2, 2], [3, 3]])


def test_single_trajectories(service):
    for length in (1, 3):
        service.write("queue", [np.int64(length)], length=length)
    dataset = reverb_dataset_of(service, "queue", max_samples=2)
    assert as_list(e.data["x"] for e in dataset) == [[1], [3, 3, 3]]
    assert dataset.element_spec.data == {"x": tf.TensorSpec([None], tf.int64)}
    assert dataset.element_spec.info.key == tf.TensorSpec([], tf.uint64)


def test_every_kind_of_column(service):
    with service.client.trajectory_writer(num_keep_alive_refs=4) as writer:
        for k in range(3):
            for i in range(4):
                writer.append(
                    {
                        "scalar": np.float32(10 * k + i),
                        "image": np.full([2, 3], k, np.uint8),
                        "text": f"{k} {i}",
                        "empty": np.zeros([0], np.float64),
                    }
                )
            writer.create_item(
                table="queue",
                priority=1.0,
                trajectory={
                    "scalars": writer.history["scalar"][-4:],
                    "image": writer.history["image"][-1],
                    "text": writer.history["text"][-2:],
                    "word": writer.history["text"][-1],
                    "empty": writer.history["empty"][-4:],
                },
            )
        writer.flush()
    dtypes = {
        "empty": tf.float64, "image": tf.uint8, "scalars": tf.float32, "text": tf.string, "word": tf.string,
    }  # fmt: skip
    dataset = reverb_dataset_of(
        service,
        "queue",
        batch_size=3,
        dtypes=dtypes,
        shapes={key: tf.TensorShape(None) for key in dtypes},
        max_samples=3,
    )
    (batch,) = dataset
    np.testing.assert_array_equal(
        batch.data["scalars"], [[10 * k + i for i in range(4)] for k in range(3)]
    )
    np.testing.assert_array_equal(batch.data["image"][:, 0, 0], [0, 1, 2])
    assert batch.data["image"].shape == [3, 2, 3]
    assert batch.data["text"].numpy().tolist() == [[b"%d 2" % k, b"%d 3" % k] for k in range(3)]
    assert batch.data["word"].numpy().tolist() == [b"0 3", b"1 3", b"2 3"]
    assert batch.data["empty"].shape == [3, 4, 0]


def test_large_elements(service):
    values = np.random.default_rng(0).normal(size=[4, 50_000])
    service.write("queue", list(values), length=2)
    dataset = reverb_dataset_of(
        service,
        "queue",
        batch_size=2,
        dtypes={"x": tf.float64},
        shapes={"x": tf.TensorShape([2, 50_000])},
        max_samples=4,
    )
    batches = [e.data["x"].numpy() for e in dataset]
    np.testing.assert_array_equal(np.concatenate(batches), np.stack([values, values], axis=1))


def test_what_batch_makes_of_trajectories_is_the_same(service):
    """Against TrajectoryDataset(...).batch(...)."""
    service.write("dist", range(20), length=3)
    samples = {}
    for batch in reverb_dataset_of(service, batch_size=16, max_samples=64):
        for key, row in zip(batch.info.key.numpy(), batch.data["x"].numpy(), strict=True):
            samples[key] = row
    other = reverb.TrajectoryDataset(
        service.address, "dist", {"x": tf.int64}, {"x": tf.TensorShape([3])}, 8, max_samples=64
    )
    for batch in other.batch(16):
        for key, row in zip(batch.info.key.numpy(), batch.data["x"].numpy(), strict=True):
            np.testing.assert_array_equal(samples.get(key, row), row)


# Remainders and the number of elements.


@pytest.mark.parametrize(
    ("samples", "drop", "sizes"),
    [(7, False, [3, 3, 1]), (7, True, [3, 3]), (6, False, [3, 3]), (2, False, [2]), (2, True, [])],
)
def test_remainder_and_cardinality(service, samples, drop, sizes):
    service.write("queue", range(10))
    dataset = reverb_dataset_of(
        service, "queue", batch_size=3, max_samples=samples, drop_remainder=drop
    )
    assert dataset.cardinality() == len(sizes)
    assert len(dataset) == len(sizes)
    static = 3 if drop or samples % 3 == 0 else None
    assert dataset.element_spec.info.key.shape.as_list() == [static]
    values = [e.data["x"][:, 0].numpy().tolist() for e in dataset]
    assert [len(v) for v in values] == sizes
    assert sum(values, []) == list(range(sum(sizes)))
    assert service.samples_taken("queue") == samples


def test_cardinality_of_what_has_no_known_end(service):
    assert reverb_dataset_of(service).cardinality() == tf.data.INFINITE_CARDINALITY
    assert reverb_dataset_of(service, batch_size=2).cardinality() == tf.data.INFINITE_CARDINALITY
    for options in ({}, {"max_samples": 4}):
        dataset = reverb_dataset_of(service, rate_limiter_timeout_ms=10, **options)
        assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert reverb_dataset_of(service, max_samples=5).cardinality() == 5


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("in_flight", [1, 5, None])
@pytest.mark.parametrize("per_stream", [None, 2])
def test_max_samples_is_exact(service, workers, in_flight, per_stream):
    service.write("queue", range(20))
    dataset = reverb_dataset_of(
        service,
        "queue",
        batch_size=3,
        max_samples=8,
        num_workers=workers,
        max_in_flight=in_flight,
        max_samples_per_stream=per_stream,
    )
    values = sorted(int(v) for e in dataset for v in e.data["x"][:, 0])
    assert values == list(range(8))
    assert service.samples_taken("queue") == 8


def test_max_samples_starts_again_with_each_iteration(service):
    service.write("queue", range(12))
    dataset = reverb_dataset_of(service, "queue", batch_size=2, max_samples=4).repeat(3)
    assert len(dataset) == 6
    values = [e.data["x"][:, 0].numpy().tolist() for e in dataset]
    assert values == [[i, i + 1] for i in range(0, 12, 2)]


@pytest.mark.parametrize("timeout_ms", [0, 1000])
@pytest.mark.parametrize("in_flight", [1, 3, None])
def test_what_is_there_comes_before_the_timeout(service, timeout_ms, in_flight):
    service.write("queue", range(5))
    dataset = reverb_dataset_of(
        service,
        "queue",
        batch_size=2,
        rate_limiter_timeout_ms=timeout_ms,
        max_in_flight=in_flight,
    )
    iterator = iter(dataset)
    assert as_list(e.data["x"][:, 0] for e in iterator) == [[0, 1], [2, 3], [4]]
    # It stays ended.
    service.write("queue", range(5))
    assert list(iterator) == []


@pytest.mark.parametrize("in_flight", [1, 5, 64])
def test_fifo_order_with_one_worker(service, in_flight):
    service.write("queue", range(50))
    dataset = reverb_dataset_of(
        service,
        "queue",
        batch_size=8,
        max_in_flight=in_flight,
        max_samples_per_stream=7,
        max_samples=50,
    )
    assert [int(v) for e in dataset for v in e.data["x"][:, 0]] == list(range(50))


@pytest.mark.parametrize("in_flight", [1, 3, 7])
@pytest.mark.parametrize("workers", [1, 2])
def test_samples_in_flight_are_bounded(service, in_flight, workers):
    service.write("dist", range(50))
    dataset = reverb_dataset_of(service, batch_size=2, max_in_flight=in_flight, num_workers=workers)
    for i, _ in zip(range(2, 42, 2), dataset, strict=False):
        assert i <= service.samples_taken("dist") <= i + in_flight


# Where it can be used.


def test_several_iterators_and_one_shot(service, graph):
    service.write("dist", range(10))
    dataset = reverb_dataset_of(service, batch_size=2)
    iterators = [v1.data.make_initializable_iterator(dataset) for _ in range(2)]
    elements = [iterator.get_next() for iterator in iterators]
    elements.append(v1.data.make_one_shot_iterator(dataset).get_next())
    with v1.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        for _ in range(5):
            for element in session.run(elements):
                assert element.data["x"].shape == (2, 1)


def test_in_a_function(service):
    service.write("queue", range(6))
    dataset = reverb_dataset_of(service, "queue", batch_size=2, max_samples=6)

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for sample in dataset:
            assert sample.data["x"].shape.as_list() == [2, None]
            result += tf.reduce_sum(sample.data["x"])
        return result

    assert total() == 15


@pytest.mark.parametrize("combine", ["flat_map", "interleave"])
def test_inside_another_dataset(service, combine):
    service.write("dist", range(10))
    dataset = inside_another(
        combine, lambda _: reverb_dataset_of(service, batch_size=2, max_samples=4)
    )
    assert len(list(dataset)) == 6


def test_table_and_address_as_tensors(service):
    service.write("dist", [1])
    service.write("queue", [2])

    def inner(table):
        return reverb.ReverbDataset(
            tf.constant([service.address]),
            table,
            dtypes=tf.int64,
            shapes=tf.TensorShape([None]),
            batch_size=1,
            max_samples=1,
        )

    dataset = tf.data.Dataset.from_tensor_slices(["dist", "queue"]).flat_map(inner)
    assert as_list(e.data for e in dataset) == [[[1]], [[2]]]


def test_the_end_by_a_timeout_loses_nothing(service):
    """One worker's limiter times out while another's items are on their way."""
    for _ in range(40):
        service.write("queue", range(25))
        options = {"num_workers": 2, "max_in_flight": 2, "rate_limiter_timeout_ms": 0}
        dataset = reverb_dataset_of(service, "queue", batch_size=5, **options)
        assert sorted(v for e in dataset for v in e.data["x"][:, 0].numpy()) == list(range(25))


def test_several_threads_share_an_iterator(service, in_thread):
    for _ in range(10):
        iterator = iter(reverb_dataset_of(service, "queue", batch_size=4, max_samples=60))

        def drain(iterator=iterator):
            return [e.data["x"][:, 0].numpy().tolist() for e in iterator]

        calls = [in_thread(drain) for _ in range(3)]
        service.write("queue", range(60))
        batches = sorted(sum((call.result() for call in calls), []))
        assert batches == [list(range(i, i + 4)) for i in range(0, 60, 4)]


def test_the_end_reaches_all_threads_that_share_an_iterator(service, in_thread):
    for _ in range(10):
        iterator = iter(reverb_dataset_of(service, "queue", max_samples=5))

        def drain(iterator=iterator):
            return [int(e.data["x"][0]) for e in iterator]

        calls = [in_thread(drain) for _ in range(6)]
        service.write("queue", range(5))
        assert sorted(sum((call.result() for call in calls), [])) == list(range(5))

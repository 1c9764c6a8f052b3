"""ReverbDataset: batches of trajectories of different lengths."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reverb_tf as reverb
from tests.tf import support
from tests.tf.support import reverb_dataset_of, uniform_table

# Dtypes of the columns, with a value of the step that is told by a number.
_COLUMNS = {
    "float": (tf.float32, lambda i: np.array([i, -i], np.float32)),
    "byte": (tf.uint8, lambda i: np.full([2, 1], i % 256, np.uint8)),
    "text": (tf.string, lambda i: np.array(f"step {i}", object)),
    "half": (tf.bfloat16, lambda i: np.array(i % 100, tf.bfloat16.as_numpy_dtype)),
}
_SHAPES = {"float": [None, 2], "byte": [None, 2, 1], "text": [None], "half": [None]}


@pytest.fixture
def service(make_service):
    return make_service(uniform_table("dist"), reverb.Table.queue("queue", 1000))


@pytest.fixture(scope="module")
def local_service():
    """One for all examples of a property."""
    service = support.Service([reverb.Table.queue("queue", 1000)], in_process=True)
    yield service
    service.server.stop()


def write(service, trajectories):
    """Writes trajectories; each is, for each column, the number of its steps."""
    with service.client.trajectory_writer(num_keep_alive_refs=10) as writer:
        step = 0
        for lengths in trajectories:
            for _ in range(8):
                writer.append({name: value(step) for name, (_, value) in _COLUMNS.items()})
                step += 1
            writer.create_item(
                "queue",
                1.0,
                {name: writer.history[name][-n:] for name, n in lengths.items()},
            )
        writer.flush()


def rows(trajectories):
    """What the trajectories of `write` hold, column by column."""
    result = {name: [] for name in _COLUMNS}
    for i, lengths in enumerate(trajectories):
        end = 8 * (i + 1)
        for name, n in lengths.items():
            result[name].append([_COLUMNS[name][1](step) for step in range(end - n, end)])
    return result


def dataset_of_columns(service, **options):
    return reverb.ReverbDataset(
        service.address,
        "queue",
        dtypes={name: dtype for name, (dtype, _) in _COLUMNS.items()},
        shapes={name: tf.TensorShape(shape) for name, shape in _SHAPES.items()},
        **options,
    )


lengths_of_columns = st.fixed_dictionaries({name: st.integers(1, 8) for name in _COLUMNS})
trajectories_of_columns = st.lists(lengths_of_columns, min_size=1, max_size=12)
property_settings = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@property_settings
@given(trajectories=trajectories_of_columns, batch_size=st.integers(1, 5))
def test_padded_batches_hold_every_step(local_service, trajectories, batch_size):
    write(local_service, trajectories)
    dataset = dataset_of_columns(
        local_service, batch_size=batch_size, max_samples=len(trajectories), varying="pad"
    )
    expected = rows(trajectories)
    first = 0
    for batch in dataset:
        size = batch.info.key.shape[0]
        for name in _COLUMNS:
            values = expected[name][first : first + size]
            longest = max(map(len, values))
            np.testing.assert_array_equal(batch.lengths[name], list(map(len, values)))
            padded = batch.data[name].numpy()
            assert padded.shape[:2] == (size, longest)
            for row, steps in zip(padded, values, strict=True):
                if name == "text":
                    assert row[: len(steps)].tolist() == [str(s).encode() for s in steps]
                    assert row[len(steps) :].tolist() == [b""] * (longest - len(steps))
                else:
                    np.testing.assert_array_equal(row[: len(steps)], np.stack(steps))
                    assert not row[len(steps) :].any()
        first += size
    assert first == len(trajectories)


@property_settings
@given(trajectories=trajectories_of_columns, batch_size=st.integers(1, 5))
def test_ragged_batches_hold_every_step(local_service, trajectories, batch_size):
    write(local_service, trajectories)
    dataset = dataset_of_columns(
        local_service, batch_size=batch_size, max_samples=len(trajectories), varying="ragged"
    )
    expected = rows(trajectories)
    first = 0
    for batch in dataset:
        size = batch.info.key.shape[0]
        for name in _COLUMNS:
            values = expected[name][first : first + size]
            ragged = batch.data[name]
            assert isinstance(ragged, tf.RaggedTensor)
            assert ragged.row_lengths().numpy().tolist() == list(map(len, values))
            steps = [step for trajectory in values for step in trajectory]
            if name == "text":
                assert ragged.values.numpy().tolist() == [str(s).encode() for s in steps]
            else:
                np.testing.assert_array_equal(ragged.values, np.stack(steps))
        first += size
    assert first == len(trajectories)


def test_the_default_says_what_to_do(service):
    for length in (2, 3):
        service.write("queue", [np.int64(0)], length=length)
    dataset = reverb_dataset_of(service, "queue", batch_size=2)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        next(iter(dataset))
    assert "Trajectories of table 'queue' differ in shape at flattened index 0" in str(error.value)
    assert "[2] and [3]" in str(error.value)
    assert "varying='pad'" in str(error.value)
    assert "varying='ragged'" in str(error.value)


def test_lengths_may_differ_from_batch_to_batch(service):
    for length in (2, 2, 3, 3):
        service.write("queue", [np.int64(0)], length=length)
    dataset = reverb_dataset_of(service, "queue", batch_size=2, max_samples=4)
    assert [e.data["x"].shape.as_list() for e in dataset] == [[2, 2], [2, 3]]


def write_squeezed(service, shapes):
    """Squeezed columns of varying shapes: values that grow by one."""
    for i, shape in enumerate(shapes):
        value = np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
        # A column of a writer keeps its shape.
        with service.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            writer.append({"x": value, "scalar": np.float32(i)})
            writer.create_item(
                "queue",
                1.0,
                {"scalar": writer.history["scalar"][-1], "x": writer.history["x"][-1]},
            )
            writer.flush()


def squeezed_dataset(service, rank, **options):
    return reverb.ReverbDataset(
        service.address,
        "queue",
        dtypes={"scalar": tf.float32, "x": tf.int64},
        shapes={"scalar": tf.TensorShape([]), "x": tf.TensorShape(rank and [None] * rank)},
        batch_size=3,
        max_samples=3,
        **options,
    )


@pytest.mark.parametrize("rank", [2, None])
def test_every_axis_is_padded(service, rank):
    write_squeezed(service, [[2, 2], [1, 3], [0, 1]])
    (batch,) = squeezed_dataset(service, rank, varying="pad")
    np.testing.assert_array_equal(
        batch.data["x"],
        [[[1, 2, 0], [3, 4, 0]], [[1, 2, 3], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]],
    )
    np.testing.assert_array_equal(batch.lengths["x"], [2, 1, 0])
    np.testing.assert_array_equal(batch.data["scalar"], [0, 1, 2])
    np.testing.assert_array_equal(batch.lengths["scalar"], [1, 1, 1])


def test_ranks_cannot_be_padded(service):
    write_squeezed(service, [[2, 2], [1, 3], [2]])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="differ in shape at flattened index 1"
    ):
        next(iter(squeezed_dataset(service, None, varying="pad")))


def test_only_the_first_axis_is_ragged(service):
    write_squeezed(service, [[2, 2], [1, 2], [0, 2]])
    (batch,) = squeezed_dataset(service, 2, varying="ragged")
    assert batch.data["x"].to_list() == [[[1, 2], [3, 4]], [[1, 2]], []]
    np.testing.assert_array_equal(batch.data["scalar"], [0, 1, 2])
    write_squeezed(service, [[2, 2], [1, 3], [2, 2]])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="differ in shape at flattened index 1"
    ):
        next(iter(squeezed_dataset(service, 2, varying="ragged")))


@pytest.mark.parametrize("full", [True, False])
def test_specs(full):
    def spec(**options):
        return reverb.ReverbDataset(
            "localhost:1",
            "t",
            dtypes={"fixed": tf.int64, "varying": tf.float32},
            shapes={"fixed": tf.TensorShape([3]), "varying": tf.TensorShape([None, 2])},
            batch_size=4,
            max_samples=None if full else 7,
            **options,
        ).element_spec

    rows = 4 if full else None
    padded = spec(varying="pad")
    assert padded._fields == ("info", "data", "lengths")
    assert padded.data == {
        "fixed": tf.TensorSpec([rows, 3], tf.int64),
        "varying": tf.TensorSpec([rows, None, 2], tf.float32),
    }
    assert padded.lengths == {
        "fixed": tf.TensorSpec([rows], tf.int64),
        "varying": tf.TensorSpec([rows], tf.int64),
    }
    assert spec(varying="pad", weights=1)._fields == ("info", "data", "weights", "lengths")
    ragged = spec(varying="ragged", weights=1)
    assert ragged._fields == ("info", "data", "weights")
    assert ragged.weights == tf.TensorSpec([rows], tf.float32)
    assert ragged.data == {
        "fixed": tf.TensorSpec([rows, 3], tf.int64),
        "varying": tf.RaggedTensorSpec([rows, None, 2], tf.float32, ragged_rank=1),
    }


@pytest.mark.parametrize("varying", ["pad", "ragged"])
def test_in_graphs(service, varying):
    for length in (1, 3):
        service.write("queue", [np.int64(length)], length=length)
    dataset = reverb_dataset_of(service, "queue", batch_size=2, max_samples=2, varying=varying)

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for sample in dataset:
            result += tf.reduce_sum(sample.data["x"])
        return result

    assert total() == 10


@pytest.mark.parametrize("varying", ["pad", "ragged"])
def test_in_v1_graphs(service, graph, varying):
    for length in (1, 3):
        service.write("queue", [np.int64(length)], length=length)
    dataset = reverb_dataset_of(service, "queue", batch_size=2, max_samples=2, varying=varying)
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    total = tf.reduce_sum(iterator.get_next().data["x"])
    with tf.compat.v1.Session() as session:
        session.run(iterator.initializer)
        assert session.run(total) == 10


def test_padded_elements_have_names(service):
    service.write("queue", [np.int64(7)], length=2)
    (element,) = reverb_dataset_of(
        service, "queue", batch_size=1, max_samples=1, varying="pad", weights=0.5
    )
    info, data, weights, lengths = element
    assert info.table_size == 1
    np.testing.assert_array_equal(data["x"], [[7, 7]])
    np.testing.assert_array_equal(weights, [1.0])
    np.testing.assert_array_equal(lengths["x"], [2])

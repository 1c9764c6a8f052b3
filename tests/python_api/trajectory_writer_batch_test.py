"""TrajectoryWriter.append_sequence and append_batch against real servers."""

import collections

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support

_TABLES = """[
    reverb.Table.queue("q", 5000),
    reverb.Table.queue("one", 1),
    reverb.Table("step", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1),
                 signature={"a": reverb.TensorSpec((), np.int64), "b": reverb.TensorSpec((2,), np.float32)}),
    reverb.Table("row", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1),
                 signature={"a": reverb.TensorSpec((1,), np.int64), "b": reverb.TensorSpec((None, 2), np.float32)}),
]"""


@pytest.fixture
def client(serve):
    return reverb.Client(serve(_TABLES).address)


def take(client, table="q", count=1):
    samples = client.sample(table, count, emit_timesteps=False, timeout=support.PATIENCE)
    return [[column.tolist() for column in sample.data] for sample in samples]


def batch(first, steps):
    rows = np.arange(first, first + steps)
    return {"b": np.stack([rows, -rows], 1).astype(np.float32), "a": rows}


def test_an_item_of_each_step(client):
    writer = client.trajectory_writer(1)
    keys = writer.append_batch(batch(0, 300), "q", np.arange(300) / 10)
    writer.flush()
    samples = list(client.sample("q", 300, emit_timesteps=False))
    assert [sample.info.key for sample in samples] == keys
    assert [sample.info.priority for sample in samples] == [i / 10 for i in range(300)]
    for i, sample in enumerate(samples):
        assert [x.tolist() for x in sample.data] == [[i], [[i, -i]]]
    assert writer.episode_steps == 300
    assert len(writer.history["a"]) == 300
    assert writer.history["a"][-1].numpy() == 299
    with pytest.raises(ValueError, match="cannot contain any None"):
        writer.history["a"][-2]


def test_timesteps_of_items_of_batches(client):
    writer = client.trajectory_writer(1)
    writer.append_batch(batch(7, 2), "q", 1.0)
    writer.flush()
    steps = [step for (step,) in client.sample("q", 2)]
    assert [step.data[0].tolist() for step in steps] == [7, 8]
    assert [step.data[1].tolist() for step in steps] == [[7, -7], [8, -8]]


@pytest.mark.parametrize(
    "priorities", [2, 2.0, np.float32(2), np.array(2.0), [2, 2.0, 2]], ids=repr
)
def test_priorities(client, priorities):
    writer = client.trajectory_writer(1)
    writer.append_batch({"x": np.zeros(3)}, "q", priorities)
    writer.flush()
    assert [sample.info.priority for (sample,) in client.sample("q", 3)] == [2.0] * 3


def test_signatures_of_the_step_and_of_one_row(client):
    writer = client.trajectory_writer(1)
    for table in ("step", "row"):
        writer.append_batch(batch(0, 2), table, 1.0)
    writer.flush()
    assert take(client, "step", 1) == [[0, [0.0, 0.0]]]
    assert take(client, "row", 1) == [[[0], [[0.0, 0.0]]]]
    writer = client.trajectory_writer(1)
    with pytest.raises(ValueError, match="'step'"):
        writer.append_batch({"a": np.zeros(2), "b": np.zeros((2, 2), np.float32)}, "step", 1.0)


def test_items_have_the_order_of_the_data_however_columns_came(client):
    writer = client.trajectory_writer(2)
    writer.append({"z": 1})
    writer.append_batch({"z": np.array([1, 2]), "a": np.array([10, 20]), "m": None}, "q", 1.0)
    writer.append_batch({"m": np.array([5])}, "q", 1.0)
    writer.flush()
    assert take(client, count=3) == [[[10], [1]], [[20], [2]], [[5]]]
    assert [ref if ref is None else int(ref.numpy()) for ref in writer.history["m"]] == [
        None
    ] * 3 + [5]


def test_without_a_table_steps_are_only_appended(client):
    writer = client.trajectory_writer(4)
    assert writer.append_batch(batch(0, 3)) == []
    writer.create_item("q", 1.0, writer.history["a"][1:])
    writer.flush()
    assert take(client) == [[[1, 2]]]


@pytest.mark.parametrize("chunk_length", [None, 1, 3, 5])
def test_sequences_between_steps(client, chunk_length):
    writer = client.trajectory_writer(8)
    writer.configure(
        ("a",), num_keep_alive_refs=8, max_chunk_length=chunk_length and min(chunk_length, 8)
    )
    writer.append({"a": 0, "b": np.zeros(2, np.float32)})
    writer.append_sequence(batch(1, 6))
    writer.append({"a": 7, "b": np.zeros(2, np.float32)})
    assert writer.episode_steps == 8
    writer.create_item("q", 1.0, [writer.history["a"][:], writer.history["b"][[1, -2]]])
    writer.append_sequence(batch(8, 3))
    writer.create_item("q", 1.0, writer.history["a"][-8:])
    writer.flush()
    assert take(client, count=2) == [
        [list(range(8)), [[1, -1], [6, -6]]],
        [list(range(3, 11))],
    ]


def test_a_long_sequence_keeps_the_newest_steps(client):
    writer = client.trajectory_writer(3)
    writer.append_sequence({"a": np.arange(1000)})
    assert len(writer.history["a"]) == 1000
    assert writer.history["a"][-3:].numpy().tolist() == [997, 998, 999]
    with pytest.raises(ValueError):
        writer.history["a"][-4:]


def test_strings_and_other_layouts(client):
    Step = collections.namedtuple("Step", "text matrix")
    text = np.array([["a", b"bc"], ["grüße", ""], ["x" * 1000, "y"]], object)
    matrix = np.arange(24, dtype=">i4").reshape(4, 2, 3).transpose(2, 0, 1)
    writer = client.trajectory_writer(3)
    writer.append_batch(Step(text, matrix), "q", 1.0)
    writer.flush()
    expected = np.vectorize(lambda x: x if isinstance(x, bytes) else x.encode(), otypes=[object])(
        text
    )
    for i, sample in enumerate(client.sample("q", 3, emit_timesteps=False)):
        assert sample.data[0].tolist() == [expected[i].tolist()]
        assert sample.data[1].dtype == np.int32
        assert sample.data[1].tolist() == [matrix[i].tolist()]


@pytest.mark.parametrize(
    "data, error, text",
    [
        (
            {"a": np.arange(3), "b": np.zeros((2, 2), np.float32)},
            ValueError,
            r"\('b',\) has 2 rows",
        ),
        ({"a": 3, "b": np.zeros((2, 2), np.float32)}, ValueError, r"\('a',\) is a scalar"),
        ({"a": np.zeros(3)}, ValueError, r"for column \('a',\)\. Got double but expected int64\."),
        (
            {"a": np.zeros((3, 1), int)},
            ValueError,
            r"\('a',\)\. Got \[1\] which is incompatible with \[\]\.",
        ),
        ({}, ValueError, "no values"),
        ({"a": None}, ValueError, "no values"),
        ({"a": np.zeros(3, "datetime64[s]")}, TypeError, "M8"),
    ],
    ids=repr,
)
def test_nothing_is_appended_when_a_leaf_does_not_fit(client, data, error, text):
    writer = client.trajectory_writer(3)
    writer.append({"a": 1, "b": np.zeros(2, np.float32)})
    for call in (
        lambda: writer.append_sequence(data),
        lambda: writer.append_batch(data),
        lambda: writer.append_batch(data, "q", 1.0),
    ):
        with pytest.raises(error, match=text):
            call()
    assert writer.episode_steps == 1
    assert [len(writer.history[name]) for name in "ab"] == [1, 1]
    writer.append_batch(batch(5, 1), "q", 1.0)
    writer.flush()
    assert take(client) == [[[5], [[5.0, -5.0]]]]


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("q",), ValueError),
        (("q", [1.0, 2.0]), ValueError),
        (("q", [1.0, float("nan"), 2.0]), ValueError),
        (("q", "high"), TypeError),
        (("q", [[1.0], [2.0], [3.0]]), TypeError),
        (("q", [None, 1.0, 2.0]), TypeError),
        (("nowhere", 1.0), ValueError),
        ((3, 1.0), TypeError),
        ((None, 1.0), ValueError),
    ],
    ids=repr,
)
def test_arguments_are_checked(client, arguments, error):
    writer = client.trajectory_writer(3)
    with pytest.raises(error):
        writer.append_batch(batch(0, 3), *arguments)
    assert writer.episode_steps == 0


def test_an_open_step_must_be_completed_first(client):
    writer = client.trajectory_writer(3)
    writer.append({"a": 1}, partial_step=True)
    for call in (
        lambda: writer.append_sequence(batch(0, 2)),
        lambda: writer.append_batch(batch(0, 2), "q", 1.0),
    ):
        with pytest.raises(errors.FailedPreconditionError, match="open"):
            call()
    writer.append({"b": np.zeros(2, np.float32)})
    writer.append_sequence(batch(0, 2))
    assert writer.episode_steps == 3


def test_an_empty_batch(client):
    writer = client.trajectory_writer(3)
    assert writer.append_batch(batch(0, 0), "q", []) == []
    writer.append_sequence(batch(0, 0))
    writer.append_batch(batch(1, 1), "q", 1.0)
    writer.flush()
    assert take(client) == [[[1], [[1.0, -1.0]]]]


def test_a_timeout_appends_nothing(client):
    writer = client.trajectory_writer(1)
    writer.append_batch({"a": np.arange(5000)}, "one", 1.0)
    with pytest.raises(errors.DeadlineExceededError, match="'one'"):
        writer.append_batch({"a": np.arange(2)}, "one", 1.0, timeout=0.01)
    assert writer.episode_steps == 5000


def test_a_writer_that_records_takes_no_batches(writer):
    with pytest.raises(TypeError, match="native"):
        writer.append_sequence({"a": np.zeros(2)})

"""TrajectoryWriter against real servers."""

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import fake_writer, support

_TABLES = """[
    reverb.Table.queue("q", 1000),
    reverb.Table.queue("one", 1),
    reverb.Table("signed", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1),
                 signature={"a": reverb.TensorSpec((None,), np.int64), "b": reverb.TensorSpec((2,), np.float32)}),
]"""


@pytest.fixture
def client(serve):
    return reverb.Client(serve(_TABLES).address)


def test_items_of_several_columns(client):
    with client.trajectory_writer(3) as writer:
        for i in range(3):
            writer.append({"a": i, "b": {"c": np.full(2, i, np.float32)}})
        history = writer.history
        key = writer.create_item("q", 2.0, {"last": history["b"]["c"][-1], "all": history["a"][:]})
    (sample,) = client.sample("q", emit_timesteps=False)
    assert [x.tolist() for x in sample.data] == [[0, 1, 2], [2.0, 2.0]]
    assert (sample.info.key, sample.info.priority) == (key, 2.0)


def test_columns_evolve_and_skip_steps(client):
    with client.trajectory_writer(10) as writer:
        writer.append({"a": 0})
        writer.append({"a": 1, "b": 10})
        writer.append({"b": 20})
        writer.append({"a": 3, "b": 30})
        history = writer.history
        writer.create_item("q", 1.0, [history["b"][1:], history["a"][[0, 1, 3]], history["a"][-1]])
        with pytest.raises(ValueError, match="cannot contain any None"):
            history["a"][:]
    assert support.take(client) == [[[10, 20, 30], [0, 1, 3], 3]]


def test_partial_steps(client):
    with client.trajectory_writer(2) as writer:
        for i in range(2):
            writer.append({"a": i}, partial_step=True)
            assert writer.episode_steps == i
            writer.append({"b": 10 * i})
            assert writer.episode_steps == i + 1
        writer.create_item("q", 1.0, [writer.history["a"][:], writer.history["b"][:]])
    assert support.take(client) == [[[0, 1], [0, 10]]]


@pytest.mark.parametrize("clear", [True, False])
def test_an_open_step_does_not_wedge_the_writer(client, clear):
    with client.trajectory_writer(4) as writer:
        writer.append({"a": 0, "b": 0}, partial_step=True)
        writer.end_episode(clear_buffers=clear)
        writer.append({"a": 1, "b": 1})
        assert writer.episode_steps == 1
        writer.create_item("q", 1.0, writer.history["a"][:])
    assert support.take(client) == [[[1] if clear else [0, 1]]]


def test_end_episode_expires_references(client):
    writer = client.trajectory_writer(4)
    writer.append({"a": 5})
    column = writer.history["a"][:]
    (reference,) = column
    assert (reference.expired, reference.shape, reference.dtype) == (False, (), np.int64)
    assert reference.numpy() == 5
    writer.end_episode()
    assert len(writer.history["a"]) == 0 and writer.episode_steps == 0
    assert reference.expired
    for call in (reference.numpy, column.numpy, lambda: reference.shape):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        writer.create_item("q", 1.0, column)
    writer.append({"a": 6})
    writer.create_item("q", 1.0, writer.history["a"][:])
    writer.flush()
    assert support.take(client) == [[[6]]]


def test_a_history_over_several_episodes(client):
    writer = client.trajectory_writer(4)
    writer.append(1)
    writer.end_episode(clear_buffers=False)
    writer.append(2)
    writer.create_item("q", 1.0, writer.history[:])
    writer.flush()
    assert support.take(client) == [[[1, 2]]]


def test_references_are_kept_as_configured(client):
    writer = client.trajectory_writer(2)
    writer.configure(("b",), num_keep_alive_refs=5, max_chunk_length=3)
    for i in range(10):
        writer.append({"a": i, "b": i})
    writer.create_item("q", 1.0, [writer.history["a"][-2:], writer.history["b"][-5:]])
    for name, count in (("a", 3), ("b", 6)):
        with pytest.raises(ValueError):
            writer.history[name][-count:]
    writer.flush()
    assert support.take(client) == [[[8, 9], [5, 6, 7, 8, 9]]]


def test_any_choice_of_steps(client):
    writer = client.trajectory_writer(12)
    writer.configure((), num_keep_alive_refs=12, max_chunk_length=6)
    for i in range(12):
        writer.append(i)
    choices = [
        slice(None, None, 2),
        slice(None, None, -1),
        [2, 0],
        [0, 0],
        [0, 2],
        [-1, 3, 4, 5],
        slice(5, 8),
    ]
    for choice in choices:
        writer.create_item("q", 1.0, writer.history[choice])
    writer.flush()
    steps = list(range(12))
    expected = [[steps[i] for i in c] if isinstance(c, list) else steps[c] for c in choices]
    assert support.take(client, count=len(choices)) == [[want] for want in expected]


def test_columns_built_from_references(client):
    writer = client.trajectory_writer(5)
    for i in range(3):
        writer.append({"a": i, "b": 10 * i})
    a, b = list(writer.history["a"]), list(writer.history["b"])
    mixed = reverb.TrajectoryColumn([a[2], b[0], b[1]], path=("m",))
    assert mixed.numpy().tolist() == [2, 0, 10]
    assert (mixed.shape, mixed.dtype) == ((3,), np.int64)
    writer.create_item("q", 1.0, [mixed, reverb.TrajectoryColumn([b[2]], squeeze=True)])
    writer.flush()
    assert support.take(client) == [[[2, 0, 10], 20]]


@pytest.mark.parametrize("chunk_length", [1, 3])
def test_references_of_another_writer(client, chunk_length):
    writers = [client.trajectory_writer(3) for _ in range(2)]
    for i, writer in enumerate(writers):
        writer.configure((), num_keep_alive_refs=3, max_chunk_length=chunk_length)
        for step in range(2):
            writer.append(10 * i + step)
    other, writer = writers
    mixed = reverb.TrajectoryColumn([*writer.history, *other.history, list(writer.history)[0]])
    assert mixed.numpy().tolist() == [10, 11, 0, 1, 10]
    other.create_item("q", 1.0, other.history[:])
    writer.create_item("q", 1.0, [other.history[[1, 0]], mixed, other.history[-1]])
    writer.flush()
    (sample,) = support.take(client)
    if sample == [[0, 1]]:  # What waited for the same chunk was sent as well.
        (sample,) = support.take(client)
    assert sample == [[1, 0], [10, 11, 0, 1, 10], 1]
    other.end_episode()
    with pytest.raises(ValueError, match="column 0.*(expired|kept)"):
        writer.create_item("q", 1.0, mixed[[2]])


def test_references_that_are_no_writers(client):
    writer = client.trajectory_writer(1)
    writer.append(1)
    with pytest.raises(ValueError, match="column 0"):
        writer.create_item("q", 1.0, reverb.TrajectoryColumn([fake_writer.FakeRef(1)]))


@pytest.mark.parametrize(
    "step, text",
    [
        (
            {"nest": {"sub": 3}},
            "Tensor of wrong dtype provided for column ('nest', 'sub'). Got int64 but expected double.",
        ),
        (
            {"scalar": np.array([1, 2])},
            "Tensor of incompatible shape provided for column ('scalar',). Got [2] which is incompatible with [].",
        ),
        (
            {"matrix": np.zeros((1, 2), np.float32)},
            "Tensor of incompatible shape provided for column ('matrix',). Got [1,2] which is incompatible with [2,2].",
        ),
    ],
)
def test_dtype_and_shape_of_a_column_are_fixed(client, step, text):
    writer = client.trajectory_writer(5)
    good = {"nest": {"sub": 1.0}, "scalar": 1, "matrix": np.zeros((2, 2), np.float32)}
    writer.append(good)
    with pytest.raises(ValueError) as e:
        writer.append({**good, **step})
    assert str(e.value) == text
    writer.append(good)
    assert [len(writer.history[name]) for name in ("scalar", "matrix")] == [2, 2]
    writer.create_item("q", 1.0, writer.history["scalar"][:])
    writer.flush()
    assert support.take(client) == [[[1, 1]]]


def test_create_item_refuses(client):
    writer = client.trajectory_writer(2)
    writer.append({"a": 1, "b": np.zeros(2, np.float32)})
    writer.append({"a": 2, "b": np.zeros(2, np.float32)})
    history = writer.history
    a = list(history["a"])
    bad = [
        ("q", float("nan"), history["a"][:], ValueError),
        ("q", 1.0, [], ValueError),
        ("q", 1.0, history["a"][2:], ValueError),
        ("q", 1.0, [history["a"][:], history["b"][2:]], ValueError),
        ("q", 1.0, reverb.TrajectoryColumn([a[0], list(history["b"])[0]]), ValueError),
        ("nowhere", 1.0, history["a"][:], ValueError),
        ("signed", 1.0, history["a"][:], ValueError),
        ("signed", 1.0, {"a": history["a"][:], "b": history["b"][:]}, ValueError),
        ("signed", 1.0, {"a": history["b"][-1], "b": history["a"][:]}, ValueError),
        ("q", "high", history["a"][:], TypeError),
        (3, 1.0, history["a"][:], TypeError),
    ]
    for table, priority, trajectory, error in bad:
        with pytest.raises(error):
            writer.create_item(table, priority, trajectory)
    writer.create_item("signed", 1.0, {"a": history["a"][:], "b": history["b"][-1]})
    writer.flush()
    assert support.take(client, "signed") == [[[1, 2], [0.0, 0.0]]]


def test_an_unknown_table_without_validation_ends_the_writer(client):
    writer = client.trajectory_writer(1, validate_items=False)
    writer.append(1)
    writer.create_item("nowhere", 1.0, writer.history[:])
    with pytest.raises(errors.NotFoundError, match="nowhere"):
        writer.flush()
    with pytest.raises(errors.NotFoundError):
        writer.create_item("q", 1.0, writer.history[:])


@pytest.mark.parametrize("call", ["flush", "end_episode"])
@pytest.mark.parametrize("limit", [{"timeout_ms": 1}, {"timeout": 0.01}], ids=str)
def test_timeouts_on_a_full_table(client, call, limit):
    writer = client.trajectory_writer(1)
    for i in range(4):
        writer.append(i)
        writer.create_item("one", 1.0, writer.history[-1:])
    with pytest.raises(errors.DeadlineExceededError, match="Timeout exceeded"):
        getattr(writer, call)(**limit)
    assert writer.episode_steps == 4 and len(writer.history) == 4
    assert support.take(client, "one", 4) == [[[i]] for i in range(4)]
    writer.end_episode(timeout=support.PATIENCE)


def test_flush_leaves_some_pending(client):
    writer = client.trajectory_writer(1)
    for i in range(3):
        writer.append(i)
        writer.create_item("one", 1.0, writer.history[-1:])
    writer.flush(2, timeout=support.PATIENCE)
    with pytest.raises(errors.DeadlineExceededError):
        writer.flush(1, timeout=0.01)
    assert support.take(client, "one", 3) == [[[i]] for i in range(3)]
    writer.flush(timeout=support.PATIENCE)


def test_items_arrive_without_flush(client):
    writer = client.trajectory_writer(1)
    writer.append(1)
    writer.create_item("q", 1.0, writer.history[-1:])
    writer.append(2)
    assert support.take(client) == [[[1]]]


def test_closed_writers_refuse(client):
    writer = client.trajectory_writer(1)
    writer.append(1)
    column = writer.history[:]
    writer.close()
    writer.close()
    calls = [
        lambda: writer.append(1),
        lambda: writer.create_item("q", 1.0, column),
        writer.flush,
        writer.end_episode,
    ]
    for call in calls:
        with pytest.raises(RuntimeError):
            call()


def test_an_exception_in_a_with_block_comes_out_while_the_table_is_full(client):
    with pytest.raises(ZeroDivisionError):
        with client.trajectory_writer(1) as writer:
            for i in range(4):
                writer.append(i)
                writer.create_item("one", 1.0, writer.history[-1:])
            raise ZeroDivisionError


def test_two_threads_in_one_writer_are_told(client):
    writer = client.trajectory_writer(1)
    for i in range(3):
        writer.append(i)
        writer.create_item("one", 1.0, writer.history[-1:])
    flushing = support.Call(writer.flush)
    seen = None
    while seen is None:  # until the other thread is inside
        try:
            writer.flush(timeout=0)
        except errors.FailedPreconditionError as e:
            seen = e
        except errors.DeadlineExceededError:
            pass
    assert "thread" in str(seen)
    writer.close()
    with pytest.raises(errors.ReverbError):
        flushing.result()


@pytest.mark.parametrize("count", [0, -1])
def test_num_keep_alive_refs_must_be_positive(client, count):
    with pytest.raises(ValueError):
        client.trajectory_writer(count)


def test_strings_and_their_references(client):
    writer = client.trajectory_writer(2)
    writer.append(np.array(["a", b"b\x00"], object))
    writer.append(np.array(["grüße", ""], object))
    assert list(writer.history)[0].numpy().tolist() == [b"a", b"b\x00"]
    assert writer.history[:].numpy().tolist() == [[b"a", b"b\x00"], ["grüße".encode(), b""]]
    writer.create_item("q", 1.0, writer.history[:])
    writer.flush()
    assert support.take(client) == [[[[b"a", b"b\x00"], ["grüße".encode(), b""]]]]

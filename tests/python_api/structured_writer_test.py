"""StructuredWriter over servers of this process and others: what is made of which steps, and what is refused."""

import collections
import gc
import logging

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors, structured_writer
from reverb_tf.structured_writer import Condition
from tests.python_api import support

_TABLES = '[reverb.Table.queue(name, 1000) for name in ("a", "b", "c", "d", "e")]'
_STEP = {"a": None, "b": {"c": None, "d": [None, None]}}
_REF = structured_writer.create_reference_step(_STEP)


@pytest.fixture
def client(serve):
    return reverb.Client(serve(_TABLES).address)


def step(i):
    return {
        "a": np.int64(i),
        "b": {"c": np.float64(10 * i), "d": [np.int32([i, -i]), np.int64(i % 2 == 0)]},
    }


def items(client, table="a"):
    """The (priority, columns) of all items of a queue."""
    count = client.server_info(support.PATIENCE)[table].current_size
    if count == 0:
        return []
    samples = client.sample(table, count, emit_timesteps=False, timeout=support.PATIENCE)
    return [(s.info.priority, [column.tolist() for column in s.data]) for s in samples]


def written(client, configs, steps=6, table="a"):
    """The columns of the items that some plain steps make."""
    writer = client.structured_writer(configs)
    for i in range(steps):
        writer.append(step(i))
    writer.end_episode(timeout=support.PATIENCE)
    return [columns for _, columns in items(client, table)]


def config(pattern, conditions=(), table="a", priority=None):
    return structured_writer.create_config(pattern, table, conditions, priority)


@pytest.mark.parametrize(
    "conditions, expected",
    [
        ([], [0, 1, 2, 3, 4, 5]),
        ([Condition.step_index() == 2], [2]),
        ([Condition.step_index() != 2], [0, 1, 3, 4, 5]),
        ([Condition.step_index() >= 4], [4, 5]),
        ([Condition.step_index() > 4], [5]),
        ([Condition.step_index() <= 1], [0, 1]),
        ([Condition.step_index() < 1], [0]),
        ([Condition.step_index() % 3 == 1], [1, 4]),
        ([Condition.step_index() % 3 != 1], [0, 2, 3, 5]),
        ([Condition.steps_since_applied() >= 2], [1, 3, 5]),
        ([Condition.is_end_episode()], [5]),
        ([Condition.step_index() > 1, Condition.step_index() % 2 == 0], [2, 4]),
    ],
)
def test_conditions(client, conditions, expected):
    assert written(client, [config(_REF["a"][-1], conditions)]) == [[i] for i in expected]


@pytest.mark.parametrize(
    "condition, expected",
    [
        (Condition.data(_STEP)["a"] >= 4, [4, 5]),
        (Condition.data(_STEP)["a"] % 4 == 1, [1, 5]),
        (Condition.data(_STEP)["a"] != 0, [1, 2, 3, 4, 5]),
        (Condition.data(_STEP)["b"]["d"][1] == 1, [0, 2, 4]),
        (Condition.data(_STEP)["b"]["c"] <= 1000, []),  # no integer
        (Condition.data(_STEP)["b"]["d"][0] <= 1000, []),  # not one
    ],
)
def test_data_conditions(client, condition, expected):
    assert written(client, [config(_REF["a"][-1], [condition])]) == [[i] for i in expected]


@pytest.mark.parametrize(
    "pattern, expected",
    [
        (
            {"x": _REF["a"][-2:], "y": _REF["b"]["c"][-1]},
            [[[i, i + 1], 10.0 * (i + 1)] for i in range(5)],
        ),
        ([_REF["a"][-5::2]], [[[i, i + 2, i + 4]] for i in range(2)]),
        (
            (_REF["a"][-6:-1:3], _REF["a"][-6], _REF["b"]["d"][0][-1:]),
            [[[0, 3], 0, [[5, -5]]]],
        ),
        (_REF["a"][-7], []),
    ],
)
def test_patterns(client, pattern, expected):
    assert written(client, [config(pattern)]) == expected


def test_configs_take_turns(client):
    configs = [
        config(_REF["a"][-1], [Condition.step_index() % 5 == i], table="abcde"[i]) for i in range(5)
    ]
    assert written(client, configs, steps=15) == [[0], [5], [10]]
    for i in range(1, 5):
        assert [columns for _, columns in items(client, "abcde"[i])] == [[i], [i + 5], [i + 10]]


def test_items_have_the_structure_of_the_pattern_when_the_table_does(serve):
    pattern = {"x": _REF["a"][-2:], "nest": (_REF["b"]["c"][-1],)}
    a_config = config(pattern)
    spec = {"a": reverb.TensorSpec([], "int64"), "b": {"c": reverb.TensorSpec([], "float64")}}
    spec["b"]["d"] = [reverb.TensorSpec([2], "int32"), reverb.TensorSpec([], "int64")]
    server = reverb.Server(
        [reverb.Table.queue("a", 10, signature=structured_writer.infer_signature([a_config], spec))]
    )
    client = reverb.Client(f"localhost:{server.port}")
    with client.structured_writer([a_config]) as writer:
        for i in range(2):
            writer.append(step(i))
    (sample,) = client.sample("a", emit_timesteps=False, unpack_as_table_signature=True)
    assert sample.data["x"].tolist() == [0, 1]
    assert sample.data["nest"][0] == 10.0
    server.stop()


def test_step_is_open(client):
    writer = client.structured_writer([config(_REF["a"][-1])])
    assert not writer.step_is_open
    writer.append({"a": 1, "b": {"c": None, "d": [None, None]}}, partial_step=True)
    assert writer.step_is_open
    writer.append({"a": None, "b": {"c": 1.0, "d": [None, None]}})
    assert not writer.step_is_open
    writer.append(step(2), partial_step=True)
    assert writer.step_is_open
    writer.end_episode(timeout=support.PATIENCE)
    assert not writer.step_is_open
    assert [columns for _, columns in items(client)] == [[1], [2]]


def test_texts_of_refused_steps(client):
    writer = client.structured_writer(
        [config([_REF["a"][-1], _REF["b"]["c"][-1], _REF["b"]["d"][1][-1]])]
    )
    writer.append(step(0))
    wrong_dtype = step(1)
    wrong_dtype["b"]["c"] = np.int64(1)
    wrong_shape = step(1)
    wrong_shape["b"]["d"][1] = np.zeros([2, 2], np.int64)
    longer = step(1)
    longer["b"]["e"] = 1
    renamed = step(1)
    renamed["b"]["x"] = renamed["b"].pop("c")
    for bad, text in [
        (
            wrong_dtype,
            "Tensor of wrong dtype provided for column 1 (path=('b', 'c')). Got int64 but expected double.",
        ),
        (
            wrong_shape,
            "Tensor of incompatible shape provided for column 3 (path=('b', 'd', 1)). "
            "Got [2,2] which is incompatible with [].",
        ),
        (longer, "Flattened data has an unexpected length, got 5 but wanted 4."),
        ({"a": 1, "b": 2}, "Flattened data has an unexpected length, got 2 but wanted 4."),
        (3, "Flattened data has an unexpected length, got 1 but wanted 4."),
        (
            renamed,
            "The structure of the data cannot change: column 1 was ('b', 'c') in the first step and is ('b', 'd', 0) "
            "now.",
        ),
    ]:
        with pytest.raises(ValueError) as error:
            writer.append(bad)
        assert str(error.value) == text
    same_paths = step(1)
    same_paths["b"]["d"] = tuple(same_paths["b"]["d"])
    writer.append(collections.OrderedDict(same_paths))
    writer.flush(timeout=support.PATIENCE)
    assert [columns[0] for _, columns in items(client)] == [0, 1]


def test_a_field_is_set_once_in_a_step(client):
    writer = client.structured_writer([config(_REF["b"]["c"][-1])])
    writer.append(step(0), partial_step=True)
    with pytest.raises(
        RuntimeError, match=r"for column 1 \(path=\('b', 'c'\)\)\. .*already been set"
    ):
        writer.append(step(1))


def test_a_step_that_lacks_columns_is_refused(client):
    writer = client.structured_writer([config(_REF["b"]["d"][1][-1])])
    with pytest.raises(ValueError, match="use column 3, but the flattened data has 2 columns"):
        writer.append([1, 2])
    writer.append([1, 2, 3, 4])  # the first step that counts


def test_columns_that_no_config_uses_may_be_anything(client):
    writer = client.structured_writer([config(_REF["a"][-1])])
    writer.append({"a": 1, "b": {"c": object(), "d": [1, 2]}})
    writer.append({"a": 2, "b": {"c": "text", "d": [b"x", None]}})
    writer.flush(timeout=support.PATIENCE)
    assert [columns for _, columns in items(client)] == [[1], [2]]


def test_td_error_priorities(client):
    priority = structured_writer.td_error(0.6, _STEP, lambda s: s["b"]["c"])
    writer = client.structured_writer(
        [
            config({"x": _REF["a"][-1], "td": _REF["b"]["c"][-3:]}, priority=priority),
            config(_REF["a"][-1], priority=priority, table="b"),
            config(
                _REF["a"][-1],
                priority=structured_writer.constant_priority_fn(2.5),
                table="c",
            ),
        ]
    )
    for i, td in enumerate([1.0, -5.0, 3.0, 0.0]):
        writer.append({"a": i, "b": {"c": td, "d": [0, 0]}})
    writer.flush(timeout=support.PATIENCE)
    assert [p for p, _ in items(client)] == pytest.approx(
        [0.6 * 5 + 0.4 * 3, 0.6 * 5 + 0.4 * 8 / 3]
    )
    assert [p for p, _ in items(client, "b")] == [0.0] * 4
    assert [p for p, _ in items(client, "c")] == [2.5] * 4


@pytest.mark.parametrize("bad", [np.nan, np.inf, np.zeros(2), np.int8(1), "x"])
def test_poison_a_td_error_that_gives_no_priority_is_refused_at_the_append(client, bad):
    ref = structured_writer.create_reference_step({"td": None})
    priority = structured_writer.td_error(0.5, {"td": None}, lambda s: s["td"])
    writer = client.structured_writer([config(ref["td"][-1], priority=priority)])
    with pytest.raises(ValueError, match=r"for column 0 \(path=\('td',\)\)\. It must be"):
        writer.append({"td": bad})
    writer.append({"td": 1.5})
    writer.flush(timeout=support.PATIENCE)
    assert items(client) == [(1.5, [1.5])]


def test_silent_corruption_integers_are_compared_whole(client):
    ref = structured_writer.create_reference_step({"x": None})
    data = Condition.data({"x": None})["x"]
    writer = client.structured_writer(
        [config(ref["x"][-1], [data > 0]), config(ref["x"][-1], [data % 3 == 2], table="b")]
    )
    for value in (2**31, 2**32, -1, 2**62, -(2**63), 0):
        writer.append({"x": value})
    writer.flush(timeout=support.PATIENCE)
    assert [columns for _, columns in items(client)] == [[2**31], [2**32], [2**62]]
    assert [columns[0] % 3 for _, columns in items(client, "b")] == [2, 2]


def test_silent_corruption_strided_patterns_over_long_chunks(client):
    ref = structured_writer.create_reference_step(None)
    writer = client.structured_writer([config(ref[-5::2])])
    for i in range(300):
        writer.append(i)
        if i % 7 == 0:
            writer.flush(timeout=support.PATIENCE)
    writer.flush(timeout=support.PATIENCE)
    assert [c for _, c in items(client)] == [[[i, i + 2, i + 4]] for i in range(296)]


@pytest.mark.parametrize("clear_buffers", [True, False])
def test_episodes(client, clear_buffers):
    writer = client.structured_writer([config(_REF["a"][-2:], [Condition.step_index() == 0])])
    writer.append(step(0))
    writer.end_episode(clear_buffers, timeout=support.PATIENCE)
    writer.append(step(1))
    writer.append(step(2))
    writer.end_episode(clear_buffers, timeout_ms=int(1000 * support.PATIENCE))
    assert [columns for _, columns in items(client)] == ([] if clear_buffers else [[[0, 1]]])


_GOOD = config(_REF["a"][-1])


def _changed(change):
    copy = structured_writer.Config()
    copy.CopyFrom(_GOOD)
    change(copy)
    return copy


@pytest.mark.parametrize(
    "bad, text",
    [
        (config(_REF["a"][0:]), "start must be negative"),
        (config(_REF["a"][1]), "stop must not be positive"),
        (config(_REF["a"][-1:-2]), "start must be less than stop"),
        (config(_REF["a"][-2::-1]), "step must be positive"),
        (config(_REF["a"][:]), "start or stop must be set"),
        (config([]), "flat must have at least one node"),
        (config(_REF["a"][-1], table=""), "table must be set"),
        (config(_REF["a"][-1], [Condition.step_index() % 0 == 0]), "mod_eq.mod must be positive"),
        (_changed(lambda c: c.ClearField("priority")), "priority: it is not set"),
    ],
)
def test_configs_that_make_no_sense_are_refused_with_their_position(bad, text):
    client = reverb.Client(f"127.0.0.1:{support.unused_port()}")
    with pytest.raises(ValueError, match=f"^Invalid configuration at position 1: .*{text}"):
        client.structured_writer([_GOOD, bad, _GOOD])
    with pytest.raises(ValueError, match="At least one config"):
        client.structured_writer([])


def test_errors_of_the_stream_come_with_later_calls(client):
    writer = client.structured_writer([config(_REF["a"][-1], table="nobody")])
    writer.append(step(0))
    with pytest.raises(RuntimeError, match="nobody"):
        writer.flush(timeout=support.PATIENCE)
    with pytest.raises(RuntimeError, match="nobody"):
        writer.append(step(1))


@pytest.fixture
def full_client(serve):
    """Of a server whose queue has room for one item."""
    return reverb.Client(serve('[reverb.Table.queue("a", 1)]').address)


def test_timeouts(full_client):
    writer = full_client.structured_writer([_GOOD])
    for i in range(3):
        writer.append(step(i))
    for call in (writer.flush, writer.end_episode):
        with pytest.raises(reverb.DeadlineExceededError, match="Timeout exceeded.*'a'"):
            call(timeout_ms=1)
        with pytest.raises(reverb.DeadlineExceededError):
            call(timeout_ms=0)
        with pytest.raises(reverb.DeadlineExceededError):
            call(timeout=0.001)
        with pytest.raises(ValueError, match="timeout_ms"):
            call(timeout_ms=-1)
        with pytest.raises(ValueError, match="only one"):
            call(timeout_ms=1, timeout=1)
    with pytest.raises(ValueError, match="block_until_num_items"):
        writer.flush(-1)
    taken = full_client.sample("a", 3, emit_timesteps=False, timeout=support.PATIENCE)
    assert [sample.data[0] for sample in taken] == [0, 1, 2]
    writer.end_episode(timeout=support.PATIENCE)


def test_shutdown_a_dropped_writer_of_a_blocked_table_ends_soon_and_says_so(serve):
    # Dropped in a process of its own, where another thread goes on while this one waits.
    address = serve('[reverb.Table.queue("a", 1)]').address
    done = support.run_script(
        """
        import sys, threading
        import reverb_tf as reverb
        ref = reverb.structured.create_reference_step(None)
        config = reverb.structured.create_config(ref[-1], "a")
        writer = reverb.Client(sys.argv[1]).structured_writer([config])
        for i in range(3):
            writer.append(i)
        ended = threading.Event()
        ticks = []
        def tick():
            while not ended.wait(0.01):
                ticks.append(1)
        thread = threading.Thread(target=tick)
        thread.start()
        del writer
        ended.set()
        thread.join()
        print(len(ticks) > 3)
        """,
        address,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"]
    assert "lost" in done.stderr and "'a'" in done.stderr


def test_processes_a_forked_child_refuses_calls_and_drops_the_writer_at_once(serve):
    done = support.run_script(
        """
        import os, sys, warnings
        import reverb_tf as reverb
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, about fork
        ref = reverb.structured.create_reference_step(None)
        config = reverb.structured.create_config(ref[-1], "a")
        client = reverb.Client(sys.argv[1])
        writer = client.structured_writer([config])
        writer.append(1)
        child = os.fork()
        if child == 0:
            calls = (
                lambda: writer.append(2),
                writer.flush,
                writer.end_episode,
                lambda: client.structured_writer([config]),
            )
            for call in calls:
                try:
                    call()
                except reverb.errors.FailedPreconditionError as e:
                    print("spawn" in str(e))
            del writer
            sys.stdout.flush()
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        writer.flush()
        print(client.server_info()["a"].current_size)
        """,
        serve(_TABLES).address,
    )
    assert done.stdout.split() == ["True"] * 4 + ["0", "1"]
    assert done.stderr == ""


def test_one_thread_at_a_time(full_client):
    writer = full_client.structured_writer([_GOOD])
    for i in range(3):
        writer.append(step(i))

    def flush():
        while refuses_threads(writer.flush):
            pass

    waiting = support.Call(flush)
    while not refuses_threads(lambda: writer.flush(timeout=0)):
        pass
    samples = full_client.sample("a", 3, emit_timesteps=False, timeout=support.PATIENCE)
    assert [sample.data[0] for sample in samples] == [0, 1, 2]
    waiting.result()
    assert not refuses_threads(lambda: writer.append(step(3)))


def refuses_threads(call):
    """Whether the call is refused because another thread is inside one."""
    try:
        call()
    except errors.FailedPreconditionError as e:
        assert "Another thread" in str(e)
        return True
    except errors.DeadlineExceededError:
        pass
    return False


def test_an_append_that_may_not_wait_says_so(full_client):
    writer = full_client.structured_writer([_GOOD])
    with pytest.raises(reverb.DeadlineExceededError, match="'a'"):
        for i in range(100_000):
            writer.append(step(i), timeout=0)


def test_lost_data_a_dropped_writer_flushes(client):
    writer = client.structured_writer([config(_REF["a"][-2:])])
    for i in range(4):
        writer.append(step(i))
    del writer
    gc.collect()
    assert [columns for _, columns in items(client)] == [[[0, 1]], [[1, 2]], [[2, 3]]]


def test_with_flushes_and_keeps_the_exception(client, full_client, caplog):
    with client.structured_writer([_GOOD]) as writer:
        writer.append(step(0))
    assert [columns for _, columns in items(client)] == [[0]]
    with caplog.at_level(logging.WARNING, "reverb_tf"), pytest.raises(KeyError):
        with full_client.structured_writer([_GOOD]) as writer:
            writer.append(step(0))
            writer.append(step(1))
            raise KeyError
    assert "Items may be lost" in caplog.text


def test_native_method_names(client):
    native = client._client.NewStructuredWriter([_GOOD.SerializeToString()])
    native.AppendPartial([1, None, None, None])
    assert native.step_is_open
    native.Append([None, 2.0, None, None])
    native.Flush(0, int(1000 * support.PATIENCE))
    native.EndEpisode(True)
    assert [columns for _, columns in items(client)] == [[1]]
    with pytest.raises(TypeError, match="serialized"):
        client._client.NewStructuredWriter([_GOOD])

"""StructuredWriter over servers of this process and others: what is made of which steps, and what is refused."""

import collections

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import structured_writer
from reverb_tf.structured_writer import Condition
from tests.python_api import support
from tests.python_api.structured_steps import GOOD, REF, STEP, TABLES, config, items, step


@pytest.fixture
def client(serve):
    return reverb.Client(serve(TABLES).address)


def written(client, configs, steps=6, table="a"):
    """The columns of the items that some plain steps make."""
    writer = client.structured_writer(configs)
    for i in range(steps):
        writer.append(step(i))
    writer.end_episode(timeout=support.PATIENCE)
    return [columns for _, columns in items(client, table)]


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
    assert written(client, [config(REF["a"][-1], conditions)]) == [[i] for i in expected]


@pytest.mark.parametrize(
    "condition, expected",
    [
        (Condition.data(STEP)["a"] >= 4, [4, 5]),
        (Condition.data(STEP)["a"] % 4 == 1, [1, 5]),
        (Condition.data(STEP)["a"] != 0, [1, 2, 3, 4, 5]),
        (Condition.data(STEP)["b"]["d"][1] == 1, [0, 2, 4]),
        (Condition.data(STEP)["b"]["c"] <= 1000, []),  # no integer
        (Condition.data(STEP)["b"]["d"][0] <= 1000, []),  # not one
    ],
)
def test_data_conditions(client, condition, expected):
    assert written(client, [config(REF["a"][-1], [condition])]) == [[i] for i in expected]


@pytest.mark.parametrize(
    "pattern, expected",
    [
        (
            {"x": REF["a"][-2:], "y": REF["b"]["c"][-1]},
            [[[i, i + 1], 10.0 * (i + 1)] for i in range(5)],
        ),
        ([REF["a"][-5::2]], [[[i, i + 2, i + 4]] for i in range(2)]),
        (
            (
                REF["a"][-6:-1:3],
                REF["a"][-6],
                REF["b"]["d"][0][-1:],
            ),
            [[[0, 3], 0, [[5, -5]]]],
        ),
        (REF["a"][-7], []),
    ],
)
def test_patterns(client, pattern, expected):
    assert written(client, [config(pattern)]) == expected


def test_configs_take_turns(client):
    configs = [
        config(REF["a"][-1], [Condition.step_index() % 5 == i], table="abcde"[i]) for i in range(5)
    ]
    assert written(client, configs, steps=15) == [[0], [5], [10]]
    for i in range(1, 5):
        assert [columns for _, columns in items(client, "abcde"[i])] == [[i], [i + 5], [i + 10]]


def test_items_have_the_structure_of_the_pattern_when_the_table_does(serve):
    pattern = {"x": REF["a"][-2:], "nest": (REF["b"]["c"][-1],)}
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
    writer = client.structured_writer([config(REF["a"][-1])])
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
        [
            config(
                [
                    REF["a"][-1],
                    REF["b"]["c"][-1],
                    REF["b"]["d"][1][-1],
                ]
            )
        ]
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
    writer = client.structured_writer([config(REF["b"]["c"][-1])])
    writer.append(step(0), partial_step=True)
    with pytest.raises(
        RuntimeError, match=r"for column 1 \(path=\('b', 'c'\)\)\. .*already been set"
    ):
        writer.append(step(1))


def test_a_step_that_lacks_columns_is_refused(client):
    writer = client.structured_writer([config(REF["b"]["d"][1][-1])])
    with pytest.raises(ValueError, match="use column 3, but the flattened data has 2 columns"):
        writer.append([1, 2])
    writer.append([1, 2, 3, 4])  # the first step that counts


def test_columns_that_no_config_uses_may_be_anything(client):
    writer = client.structured_writer([config(REF["a"][-1])])
    writer.append({"a": 1, "b": {"c": object(), "d": [1, 2]}})
    writer.append({"a": 2, "b": {"c": "text", "d": [b"x", None]}})
    writer.flush(timeout=support.PATIENCE)
    assert [columns for _, columns in items(client)] == [[1], [2]]


def test_td_error_priorities(client):
    priority = structured_writer.td_error(0.6, STEP, lambda s: s["b"]["c"])
    writer = client.structured_writer(
        [
            config(
                {"x": REF["a"][-1], "td": REF["b"]["c"][-3:]},
                priority=priority,
            ),
            config(REF["a"][-1], priority=priority, table="b"),
            config(
                REF["a"][-1],
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
    writer = client.structured_writer([config(REF["a"][-2:], [Condition.step_index() == 0])])
    writer.append(step(0))
    writer.end_episode(clear_buffers, timeout=support.PATIENCE)
    writer.append(step(1))
    writer.append(step(2))
    writer.end_episode(clear_buffers, timeout_ms=int(1000 * support.PATIENCE))
    assert [columns for _, columns in items(client)] == ([] if clear_buffers else [[[0, 1]]])


def _changed(change):
    copy = structured_writer.Config()
    copy.CopyFrom(GOOD)
    change(copy)
    return copy


@pytest.mark.parametrize(
    "bad, text",
    [
        (config(REF["a"][0:]), "start must be negative"),
        (config(REF["a"][1]), "stop must not be positive"),
        (config(REF["a"][-1:-2]), "start must be less than stop"),
        (config(REF["a"][-2::-1]), "step must be positive"),
        (config(REF["a"][:]), "start or stop must be set"),
        (config([]), "flat must have at least one node"),
        (config(REF["a"][-1], table=""), "table must be set"),
        (
            config(REF["a"][-1], [Condition.step_index() % 0 == 0]),
            "mod_eq.mod must be positive",
        ),
        (_changed(lambda c: c.ClearField("priority")), "priority: it is not set"),
    ],
)
def test_configs_that_make_no_sense_are_refused_with_their_position(bad, text):
    client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
    with pytest.raises(ValueError, match=f"^Invalid configuration at position 1: .*{text}"):
        client.structured_writer([GOOD, bad, GOOD])
    with pytest.raises(ValueError, match="At least one config"):
        client.structured_writer([])


def test_errors_of_the_stream_come_with_later_calls(client):
    writer = client.structured_writer([config(REF["a"][-1], table="nobody")])
    writer.append(step(0))
    with pytest.raises(RuntimeError, match="nobody"):
        writer.flush(timeout=support.PATIENCE)
    with pytest.raises(RuntimeError, match="nobody"):
        writer.append(step(1))

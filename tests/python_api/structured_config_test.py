"""Configs of structured writers: reference steps, patterns, conditions, priorities, and the signature they make."""

import collections

import numpy as np
import pytest
import tree

import reverb_tf as reverb
from reverb_tf import structured, structured_writer
from reverb_tf.proto import patterns_pb2
from reverb_tf.structured_writer import Condition

Point = collections.namedtuple("Point", "x y")


def spec(shape, dtype="float32", name=None):
    return reverb.TensorSpec(shape, dtype, name)


@pytest.fixture(autouse=True)
def without_tensorflow(monkeypatch):
    """These tests ask for the specs that there are without TensorFlow, wherever they run."""
    monkeypatch.setattr("reverb_tf._signature._tensorflow_spec_classes", lambda: (None, None))


def test_the_module_has_two_names():
    assert structured is structured_writer
    assert reverb.structured is reverb.structured_writer
    assert {"structured", "structured_writer"} <= set(dir(reverb))


def test_reference_steps_have_the_structure_of_the_step():
    ref = structured_writer.create_reference_step({"b": [1, None], "a": Point(2, (3,))})
    assert isinstance(ref["a"], Point)
    assert ref["a"].x[-1] == patterns_pb2.PatternNode(flat_source_index=0, stop=-1)
    assert ref["a"].y[0][-3:] == patterns_pb2.PatternNode(flat_source_index=1, start=-3)
    assert ref["b"][0][-4:-1:2] == patterns_pb2.PatternNode(
        flat_source_index=2, start=-4, stop=-1, step=2
    )
    assert ref["b"][1][:-1] == patterns_pb2.PatternNode(flat_source_index=3, stop=-1)
    assert ref["b"][1][:0].HasField("stop")
    nested = structured_writer.create_reference_step(ref)
    assert nested["b"][1][-1].flat_source_index == 3


@pytest.mark.parametrize("key", [None, "x", 1.0, (1, 2), [1], np.int64(-1), ...])
def test_other_indices_are_refused(key):
    ref = structured_writer.create_reference_step(None)
    with pytest.raises(ValueError, match="int or a slice"):
        _ = ref[key]


def test_pattern_from_transform():
    pattern = structured_writer.pattern_from_transform(
        step_structure=None, transform=lambda ref: {"x": ref[-1], "y": ref[-2:]}
    )
    ref = structured_writer.create_reference_step(None)
    assert pattern == {"x": ref[-1], "y": ref[-2:]}


@pytest.mark.parametrize(
    "make",
    [
        lambda ref: ref["a"][-1],
        lambda ref: {"x": ref["b"][-2:], "n": (ref["a"][-1], [ref["a"][-2]])},
        lambda ref: Point(ref["a"][-1], {"z": ref["b"][-1]}),
    ],
)
def test_patterns_are_packed_and_unpacked(make):
    ref = structured_writer.create_reference_step({"a": None, "b": None})
    pattern = make(ref)
    config = structured_writer.create_config(pattern, "t", [Condition.step_index() > 3])
    assert list(config.flat) == tree.flatten(pattern)
    assert config.table == "t"
    assert config.priority.constant_fn.value == 1.0
    again = structured_writer.unpack_pattern(
        structured_writer.Config.FromString(config.SerializeToString())
    )
    assert tree.flatten_with_path(again) == tree.flatten_with_path(pattern)
    tree.assert_same_structure(again, pattern, check_types=not isinstance(pattern, Point))
    config.ClearField("pattern_structure")
    assert list(structured_writer.unpack_pattern(config)) == tree.flatten(pattern)


@pytest.mark.parametrize(
    "condition, expected",
    [
        (Condition.step_index() == 3, "step_index: true eq: 3"),
        (Condition.step_index() != 3, "step_index: true eq: 3 inverse: true"),
        (Condition.step_index() >= 3, "step_index: true ge: 3"),
        (Condition.step_index() > 3, "step_index: true ge: 4"),
        (Condition.step_index() <= 3, "step_index: true ge: 4 inverse: true"),
        (Condition.step_index() < 3, "step_index: true ge: 3 inverse: true"),
        (Condition.steps_since_applied() % 4 == 1, "steps_since_applied: true mod_eq{mod:4 eq:1}"),
        (
            Condition.steps_since_applied() % 4 != 0,
            "steps_since_applied: true mod_eq{mod:4} inverse: true",
        ),
        (Condition.is_end_episode(), "is_end_episode: true eq: 1"),
        (Condition.data({"a": 0, "b": [1]})["a"] == 0, "flat_source_index: 0 eq: 0"),
        (Condition.data({"a": 0, "b": [1]})["b"][0] > np.int8(1), "flat_source_index: 1 ge: 2"),
    ],
)
def test_conditions_are_messages(condition, expected):
    from google.protobuf import text_format

    assert condition == text_format.Parse(expected, structured_writer.ConditionProto())


def test_each_comparison_is_a_new_message():
    left = Condition.step_index()
    first, second = left == 1, left != 1
    assert not first.inverse and second.inverse
    with pytest.raises(TypeError):
        hash(left)


def test_conditions_that_would_lose_something_are_refused():
    with pytest.raises(ValueError, match="== and !="):
        _ = Condition.step_index() % 2 >= 1
    with pytest.raises(ValueError, match="once"):
        _ = Condition.step_index() % 4 % 2
    with pytest.raises(TypeError):
        _ = Condition.step_index() == 1.5


def test_priorities():
    assert structured_writer.constant_priority_fn(2.0) == patterns_pb2.Priority(
        constant_fn=patterns_pb2.Priority.ConstantPriorityFn(value=2.0)
    )
    priority = structured_writer.td_error(0.25, {"a": None, "td": [None, 0]}, lambda s: s["td"][0])
    assert priority.td_error.flat_source_index == 1
    assert priority.td_error.max_priority_weight == 0.25


def test_what_configs_are_not_made_of():
    ref = structured_writer.create_reference_step([0])
    with pytest.raises(TypeError, match="column 0 of a reference step, without an index"):
        structured_writer.create_config(ref, "t")
    with pytest.raises(TypeError, match="comparison of a Condition"):
        structured_writer.create_config(ref[0][-1], "t", [Condition.step_index()])
    with pytest.raises(TypeError, match="must return one leaf"):
        structured_writer.td_error(1.0, [0], lambda step: step)
    with pytest.raises(TypeError, match="create_config"):
        reverb.Client("localhost:1").structured_writer([ref[0][-1]])


_SPEC = {"a": spec([], "int64"), "b": {"c": spec([3, None]), "d": [spec(None, "str")]}}
_REF = structured_writer.create_reference_step(_SPEC)


def config(pattern, table="t"):
    return structured_writer.create_config(pattern, table)


@pytest.mark.parametrize(
    "patterns, expected",
    [
        ([_REF["a"][-1]], spec([], "int64", "")),
        ([[_REF["a"][-3:]]], [spec([3], "int64", "0")]),
        ([{"x": _REF["a"][-5::2]}], {"x": spec([3], "int64", "x")}),
        ([{"x": _REF["a"][-6:-1:3]}], {"x": spec([2], "int64", "x")}),
        (
            [{"x": {"y": _REF["b"]["c"][-2:]}, "z": _REF["b"]["c"][-1]}],
            {"x": {"y": spec([2, 3, None], name="x/y")}, "z": spec([3, None], name="z")},
        ),
        ([[_REF["a"][-2:]], [_REF["a"][-2:]]], [spec([2], "int64", "0")]),
        ([[_REF["a"][-2:]], [_REF["a"][-4:-1]]], [spec([None], "int64", "0")]),
        (
            [[_REF["b"]["c"][-2:]], [_REF["b"]["c"][-4:]], [_REF["b"]["c"][-2:]]],
            [spec([None, 3, None], name="0")],
        ),
        ([[_REF["b"]["d"][0][-2:]], [_REF["b"]["d"][0][-1]]], [spec(None, "str", "0")]),
    ],
)
def test_infer_signature(patterns, expected):
    signature = structured_writer.infer_signature([config(p) for p in patterns], _SPEC)
    assert signature == expected


def test_infer_signature_takes_anything_with_a_shape_and_a_dtype():
    ref = structured_writer.create_reference_step({"x": 0})
    got = structured_writer.infer_signature(
        [config(ref["x"][-2:])], {"x": np.zeros([4, 5], np.uint8)}
    )
    assert got == spec([2, 4, 5], "uint8", "")


@pytest.mark.parametrize(
    "configs, text",
    [
        ([], "At least one config must be provided."),
        (
            [config({"x": _REF["a"][-1]}), config({"y": _REF["a"][-1]})],
            "All configs must have exactly the same pattern_structure.",
        ),
        (
            [config(_REF["a"][-1], name) for name in "cabab"],
            "All configs must target the same table but provided configs included a, b, c.",
        ),
        (
            [config({"x": _REF["a"][-1]}), config({"x": _REF["b"]["c"][-1]})],
            r"Configs produce trajectories with multiple dtypes at \('x',\)\. Got .*",
        ),
        (
            [config({"x": _REF["a"][-1]}), config({"x": _REF["a"][-1:]})],
            r"Configs produce trajectories with incompatible shapes at \('x',\)\. Got .*",
        ),
        (
            [config({"x": _REF["b"]["c"][-1]}), config({"x": _REF["b"]["c"][-1:]})],
            r"Configs produce trajectories with incompatible shapes at \('x',\)\. Got .*",
        ),
    ],
)
def test_configs_that_do_not_fit_together(configs, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        structured_writer.infer_signature(configs, _SPEC)


def test_a_config_for_other_steps_is_refused():
    with pytest.raises(ValueError, match="uses column 2, but step_spec has 1 leaves"):
        structured_writer.infer_signature([config(_REF["b"]["d"][0][-1])], {"a": spec([])})


def test_inner_dimensions_must_agree():
    ref = structured_writer.create_reference_step([0, 1])
    with pytest.raises(ValueError, match="incompatible shapes"):
        structured_writer.infer_signature(
            [config([ref[0][-2:]]), config([ref[1][-2:]])], [spec([3]), spec([4])]
        )

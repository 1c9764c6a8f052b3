"""PatternDataset: what patterns make of a dataset of steps."""

import collections

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import reverb_tf as reverb
from reverb_tf import pattern_dataset, structured_writer
from reverb_tf._tf import op_library
from tests.tf.support import as_list, uniform_table

Condition = structured_writer.Condition


def config_of(dataset, transform, conditions=(), table="t", **options):
    pattern = structured_writer.pattern_from_transform(dataset.element_spec, transform)
    return structured_writer.create_config(pattern, table, conditions, **options)


def never(*_):
    return False


def patterns(dataset, configs, respect=True, is_end=never):
    return reverb.PatternDataset(dataset, configs, respect, is_end)


def numbers(n):
    return tf.data.Dataset.range(n)


# Content.


def test_configs_give_elements_in_their_order():
    dataset = numbers(3)
    configs = [config_of(dataset, lambda x: x[-1:]), config_of(dataset, lambda x: x[-2:])]
    result = patterns(dataset, configs)
    assert result.element_spec == tf.TensorSpec([None], tf.int64)
    assert as_list(result) == [[0], [1], [0, 1], [2], [1, 2]]


def test_a_config_needs_no_more_steps_than_it_uses():
    dataset = numbers(3)
    configs = [config_of(dataset, lambda x: x[-2:]), config_of(dataset, lambda x: x[-1:])]
    assert as_list(patterns(dataset, configs)) == [[0], [0, 1], [1], [1, 2], [2]]


def test_the_configs_of_the_caller_are_not_changed():
    dataset = numbers(3)
    config = config_of(dataset, lambda x: x[-2:])
    before = config.SerializeToString()
    patterns(dataset, [config])
    assert config.SerializeToString() == before


def test_conditions():
    dataset = numbers(9)
    config = config_of(dataset, lambda x: x[-2:], [Condition.step_index() % 3 == 0])
    assert as_list(patterns(dataset, [config])) == [[2, 3], [5, 6]]
    config = config_of(dataset, lambda x: x[-1], [Condition.data(dataset.element_spec) >= 7])
    assert as_list(patterns(dataset, [config])) == [7, 8]


@pytest.mark.parametrize(
    ("transform", "shape"),
    [
        (lambda x: x[-1], [2, 3]),
        (lambda x: x[-2], [2, 3]),
        (lambda x: x[-1:], [1, 2, 3]),
        (lambda x: x[-4:-1], [3, 2, 3]),
        (lambda x: x[-5::2], [3, 2, 3]),
        (lambda x: x[-4::2], [2, 2, 3]),
    ],
)
def test_values_and_shapes(transform, shape):
    steps = np.arange(8 * 6).reshape([8, 2, 3]).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(steps)
    result = patterns(dataset, [config_of(dataset, transform)])
    assert result.element_spec.shape == shape
    elements = list(result)
    assert all(element.shape == shape for element in elements)
    slices = [transform(steps[: i + 1]) for i in range(len(steps))[-len(elements) :]]
    np.testing.assert_array_equal(np.stack(elements), np.stack(slices))


def test_batched_steps_keep_their_axis():
    dataset = numbers(6).batch(2, drop_remainder=True)
    result = patterns(dataset, [config_of(dataset, lambda x: x[-2:])])
    assert result.element_spec.shape == [2, 2]
    assert as_list(result) == [[[0, 1], [2, 3]], [[2, 3], [4, 5]]]


def test_nested_steps_and_patterns():
    Pair = collections.namedtuple("Pair", "b a")
    dataset = tf.data.Dataset.from_tensor_slices(
        {"z": Pair(["x", "y", "w"], [1, 2, 3]), "a": ([1.0, 2.0, 3.0],)}
    )
    config = config_of(
        dataset,
        lambda step: {
            "words": step["z"].b[-2:],
            "all": [step["a"][0][-1], Pair(step["z"].a[-2], step["z"].b[-1])],
        },
    )
    result = patterns(dataset, [config])
    assert result.element_spec == {
        "words": tf.TensorSpec([2], tf.string),
        "all": (
            tf.TensorSpec([], tf.float32),
            Pair(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string)),
        ),
    }
    first, second = result
    assert first["words"].numpy().tolist() == [b"x", b"y"]
    assert second["words"].numpy().tolist() == [b"y", b"w"]
    assert first["all"][0] == 2.0
    assert first["all"][1].b == 1
    assert first["all"][1].a == b"y"


@settings(max_examples=25, deadline=None)
@given(
    ends=st.lists(st.booleans(), min_size=1, max_size=12),
    length=st.integers(1, 4),
    squeezed=st.booleans(),
    respect=st.booleans(),
)
def test_the_same_items_as_a_structured_writer_makes(ends, length, squeezed, respect):
    steps = {"x": np.arange(len(ends)), "end": np.array(ends)}
    dataset = tf.data.Dataset.from_tensor_slices(steps)

    def transform(step):
        return {"x": step["x"][-length:], "y": step["x"][-1] if squeezed else step["x"][-1:]}

    configs = [
        config_of(dataset, transform, table="queue"),
        config_of(dataset, transform, [Condition.is_end_episode()], table="queue"),
    ]
    result = patterns(dataset, configs, respect, lambda step: step["end"])
    with reverb.Server([reverb.Table.queue("queue", 100)]) as server:
        client = server.localhost_client()
        with client.structured_writer(configs) as writer:
            for i, end in enumerate(ends):
                writer.append({"x": np.int64(i), "end": end})
                if end:
                    writer.end_episode(clear_buffers=respect)
        expected = []
        for _ in range(client.server_info()["queue"].current_size):
            (item,) = client.sample("queue", emit_timesteps=False)
            expected.append([column.tolist() for column in item.data])
    assert [as_list([e["x"], e["y"]]) for e in result] == expected


# Episodes.


@pytest.mark.parametrize(
    ("respect", "expected"),
    [(True, [[0, 1], [1, 2], [3, 4], [4, 5]]), (False, [[i, i + 1] for i in range(6)])],
)
def test_boundaries_of_episodes(respect, expected):
    dataset = numbers(7)
    config = config_of(dataset, lambda x: x[-2:])
    result = patterns(dataset, [config], respect, lambda x: x % 3 == 2)
    assert as_list(result) == expected


def test_conditions_on_the_end_of_an_episode():
    dataset = numbers(7)
    config = config_of(dataset, lambda x: x[-2:], [Condition.is_end_episode()])
    result = patterns(dataset, [config], True, lambda x: x % 3 == 2)
    assert as_list(result) == [[1, 2], [4, 5]]  # the end of the input is none


def test_is_end_of_episode_may_capture():
    dataset = numbers(5)
    last = tf.Variable(1, dtype=tf.int64)
    config = config_of(dataset, lambda x: x[-1], [Condition.is_end_episode()])
    result = patterns(dataset, [config], True, lambda x: x == last)
    assert as_list(result) == [1]
    last.assign(3)
    assert as_list(result) == [3]


def test_with_info():
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3]})
    config = config_of(dataset, lambda step: (step["a"][-2:], {"b": step["a"][-1]}))
    result = pattern_dataset.pattern_dataset_with_info(dataset, [config], True, never)
    first, second = result
    assert isinstance(first, reverb.ReplaySample)
    assert isinstance(first.info, reverb.SampleInfo)
    assert as_list(first.info) == [0] * 5
    assert as_list([first.data[0], first.data[1]["b"]]) == [[1, 2], 2]
    assert as_list([second.data[0], second.data[1]["b"]]) == [[2, 3], 3]
    single = pattern_dataset.pattern_dataset_with_info(
        numbers(2), [config_of(numbers(2), lambda x: x[-1])], True, never
    )
    assert as_list(e.data for e in single) == [0, 1]


# As a dataset.


def test_in_a_function_and_inside_other_datasets():
    dataset = numbers(5)
    config = config_of(dataset, lambda x: x[-2:])

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for pair in patterns(numbers(5), [config]).batch(2):
            result += tf.reduce_sum(pair)
        return result

    assert total() == 1 + 3 + 5 + 7
    nested = numbers(2).flat_map(lambda _: patterns(numbers(3), [config]))
    assert as_list(nested) == [[0, 1], [1, 2]] * 2
    assert as_list(patterns(dataset, [config]).repeat(2).take(5))[-1] == [0, 1]


def test_cardinality_and_serialisation(tmp_path):
    dataset = numbers(5)
    config = config_of(dataset, lambda x: x[-2:])
    result = patterns(dataset, [config], is_end=lambda x: x == 2)
    assert result.cardinality() == tf.data.UNKNOWN_CARDINALITY
    infinite = patterns(dataset.repeat(), [config])
    assert infinite.cardinality() == tf.data.INFINITE_CARDINALITY
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=result._variant_tensor, external_state_policy=2
    )
    definition = tf.compat.v1.GraphDef.FromString(graph.numpy())
    (node,) = [n for n in definition.node if n.op == "ReverbPatternDataset"]
    assert node.attr["configs"].list.s == [config.SerializeToString()]
    assert node.attr["clear_after_episode"].b
    iterator = iter(result)
    next(iterator)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))


def test_of_sampled_steps(make_service):
    service = make_service(uniform_table("dist"), reverb.Table.queue("queue", 100))
    service.write("queue", range(4), length=2)
    steps = reverb.TimestepDataset(
        service.address, "queue", tf.int64, tf.TensorShape([]), 1, max_samples=4
    ).map(lambda sample: sample.data)
    config = config_of(steps, lambda x: x[-3:])
    assert as_list(patterns(steps, [config]).take(2)) == [[0, 0, 1], [0, 1, 1]]


# Errors.


@pytest.mark.parametrize(
    "is_end", [lambda x: x, lambda x: (x > 1, x > 2), lambda x: tf.stack([x > 1]), lambda x: {}]
)
def test_is_end_of_episode_must_return_a_bool(is_end):
    dataset = numbers(3)
    with pytest.raises(ValueError, match="must return a scalar bool"):
        patterns(dataset, [config_of(dataset, lambda x: x[-1])], True, is_end)


def test_invalid_configs():
    dataset = numbers(3)
    with pytest.raises(ValueError, match="At least one config"):
        patterns(dataset, [])
    pair = tf.data.Dataset.zip((dataset, dataset))
    with pytest.raises(ValueError, match="uses column 1"):
        patterns(dataset, [config_of(pair, lambda x: x[1][-1])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="start must be negative"):
        patterns(dataset, [config_of(dataset, lambda x: x[0:0])])


def test_the_op_checks_its_function_and_configs():
    dataset = numbers(3)
    config = config_of(dataset, lambda x: x[-1]).SerializeToString()
    wide = config_of(tf.data.Dataset.zip((dataset, dataset)), lambda x: x[1][-1])

    def make(function, configs):
        variant = op_library.ops().reverb_pattern_dataset(
            dataset=dataset._variant_tensor,
            other_arguments=[],
            clear_after_episode=True,
            configs=configs,
            is_end_of_episode=tf.function(function).get_concrete_function(
                tf.TensorSpec([], tf.int64)
            ),
            dtypes=[tf.int64],
            shapes=[[]],
        )
        return list(tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64)))

    assert as_list(make(lambda x: x > 5, [config])) == [0, 1, 2]
    for function, configs, text in (
        (lambda x: (x > 1, x > 1), [config], "must return one value, got 2"),
        (lambda x: x, [config], "must return one bool"),
        (lambda x: tf.stack([x > 1, x > 2]), [config], "must return one bool"),
        (lambda x: x > 1, [b"?"], "position 0"),
        (lambda x: x > 1, [wide.SerializeToString()], "use column 1"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            make(function, configs)


def test_values_that_cannot_be_stacked():
    dataset = tf.data.Dataset.from_generator(
        lambda: iter([[1], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int64)
    )
    config = config_of(dataset, lambda x: x[-2:])
    with pytest.raises(tf.errors.InvalidArgumentError, match="different dtypes or shapes"):
        list(patterns(dataset, [config]))
    config = config_of(dataset, lambda x: x[-1])
    assert as_list(patterns(dataset, [config])) == [[1], [1, 2]]

"""Every error of VariableContainer, in eager mode and in tf.function, and that nothing happened then."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf import variables_support
from tests.tf.variables_support import Layer, both_modes, in_mode, make_variables, numbers


@pytest.fixture
def service(make_service):
    return make_service(
        variables_support.table(),
        variables_support.table(name="other"),
        variables_support.raw_table("large", 2, tf.TensorSpec([], tf.float32)),
        variables_support.raw_table("unsigned"),
        variables_support.raw_table("empty", signature=()),
    )


@pytest.fixture
def container(service):
    made = reverb.VariableContainer(service.address)
    made.push(make_variables(1))
    return made


# The constructor.


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["missing"], KeyError, "missing"),
        (["variables", "missing"], KeyError, "missing"),
        (["large"], ValueError, "max_size 1.*'large' is 2"),
        (["unsigned"], TypeError, "'unsigned' needs a signature"),
        (["variables", "empty"], TypeError, "'empty' needs a signature"),
        ("variables", TypeError, "sequence of names"),
    ],
)
def test_constructor(service, names, error, text):
    with pytest.raises(error, match=text):
        reverb.VariableContainer(service.address, names)


def test_constructor_without_a_server():
    with pytest.raises(reverb.DeadlineExceededError):
        reverb.VariableContainer("127.0.0.1:1", timeout=0.5)


# Names of tables.


@both_modes
@pytest.mark.parametrize("name", ["other", "missing"])
def test_tables_that_were_not_named(container, mode, name):
    variables = make_variables()
    for call in (
        lambda: container.push(variables, name),
        lambda: container.pull(name),
        lambda: container.update(variables, name),
    ):
        with pytest.raises(KeyError, match=f"'{name}' is no table of this container"):
            in_mode(mode, call)


# Structures, dtypes and shapes.


def _without(key):
    values = make_variables(9)
    del values[key]
    return values


def _with(**changes):
    return {**make_variables(9), **changes}


def _layers(*layers):
    return _with(layers=list(layers))


def _kernel(value):
    first, second = make_variables(9)["layers"]
    return _layers(Layer(value, first.bias), second)


BAD_STRUCTURES = {
    "missing key": lambda: _without("step"),
    "another key": lambda: _with(more=tf.Variable(1.0)),
    "one value": lambda: tf.Variable(1.0),
    "too few": lambda: _layers(make_variables(9)["layers"][0]),
    "a dict for a tuple": lambda: _layers(
        make_variables(9)["layers"][0], {"kernel": tf.Variable(1.0), "bias": tf.Variable(1.0)}
    ),
    "flat": lambda: tf.nest.flatten(make_variables(9)),
    "a list for a value": lambda: _with(step=([tf.Variable(1, dtype=tf.int64)],)),
    "a value for a tuple": lambda: _with(step=tf.Variable(1, dtype=tf.int64)),
    "nothing": lambda: {},
}
BAD_VALUES = {
    "dtype": lambda: _kernel(tf.Variable(tf.zeros([3, 4], tf.float64))),
    "integer": lambda: _with(step=(tf.Variable(9, dtype=tf.int32),)),
    "bfloat16": lambda: _kernel(tf.Variable(tf.zeros([3, 4], tf.bfloat16))),
    "shape": lambda: _kernel(tf.Variable(tf.zeros([4, 3]))),
    "rank": lambda: _kernel(tf.Variable(tf.zeros([1, 3, 4]))),
    "a step axis left out": lambda: _with(step=(tf.Variable([9], dtype=tf.int64),)),
}
BAD = {**BAD_STRUCTURES, **BAD_VALUES}


@both_modes
@pytest.mark.parametrize("name", BAD)
def test_push_of_what_does_not_match(service, container, mode, name):
    values = BAD[name]()
    text = "nested" if name in BAD_STRUCTURES else "but the signature of table 'variables' says"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        in_mode(mode, lambda: container.push(values))
    assert numbers(container.pull()) == {1}
    assert service.client.server_info(timeout=10)["variables"].current_size == 1


@both_modes
@pytest.mark.parametrize("name", BAD)
def test_update_of_what_does_not_match(container, mode, name):
    variables = BAD[name]()
    before = tf.nest.map_structure(np.asarray, variables)
    text = "nested" if name in BAD_STRUCTURES else "but the signature of table 'variables' says"
    with pytest.raises(ValueError, match=text):
        in_mode(mode, lambda: container.update(variables))
    tf.nest.map_structure(np.testing.assert_array_equal, before, variables)


@both_modes
def test_update_of_what_is_no_variable(container, mode):
    variables = _with(step=(tf.constant(9, tf.int64),))
    with pytest.raises(ValueError, match="'step/0' must be a variable"):
        in_mode(mode, lambda: container.update(variables))
    assert numbers(variables) == {9}


def test_numpy_arrays_are_not_cast(container):
    with pytest.raises(tf.errors.InvalidArgumentError, match="layers/0/kernel.*float64"):
        container.push(_kernel(np.zeros([3, 4])))


def test_a_shape_that_is_known_only_when_the_push_runs(container):
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([None, 4])])
    def push(kernel, partial):
        assert partial.shape.rank == 2
        container.push(_kernel_of(kernel))

    others = make_variables(9)

    def _kernel_of(kernel):
        return {
            "layers": [Layer(kernel, others["layers"][0].bias), others["layers"][1]],
            "step": others["step"],
        }

    for shape in ([4, 3], [1, 3, 4], []):
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
            push(tf.zeros(shape), tf.zeros([1, 4]))
        assert numbers(container.pull()) == {1}
    push(tf.fill([3, 4], 9.0), tf.zeros([1, 4]))
    assert numbers(container.pull()) == {9}


# Shapes that only the pulled values have: nothing is assigned when one of them does not fit.


@pytest.fixture
def loose(make_service):
    """A container of a table whose signature does not say the shapes."""
    spec = tf.TensorSpec([None])
    return reverb.VariableContainer(make_service(reverb.variable_table([spec] * 3)).address)


def test_update_is_all_or_nothing_in_eager_mode(loose):
    loose.push([tf.zeros([2]), tf.zeros([2]), tf.zeros([5])])
    variables = [tf.Variable([1.0, 1.0]) for _ in range(3)]
    with pytest.raises(ValueError, match=r"No variable was changed.*Variable 2.*\[5\].*\[2\]"):
        loose.update(variables)
    assert numbers(variables) == {1}


def test_update_is_all_or_nothing_in_a_function(loose):
    loose.push([tf.zeros([2]), tf.zeros([2]), tf.zeros([5])])
    variables = [tf.Variable([1.0, 1.0]) for _ in range(3)]
    update = tf.function(lambda: loose.update(variables))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Variable 2.*\[5\].*\[2\]"):
        update()
    assert numbers(variables) == {1}
    loose.push([tf.zeros([2])] * 3)
    update()
    assert numbers(variables) == {0}


def test_variables_of_any_shape_are_updated(loose):
    variables = [tf.Variable([1.0], shape=tf.TensorShape([None])) for _ in range(3)]
    loose.push([tf.zeros([i]) for i in range(3)])
    loose.update(variables)
    assert [len(variable.numpy()) for variable in variables] == [0, 1, 2]


@both_modes
def test_what_somebody_else_inserted(service, container, mode):
    service.client.insert([np.float32(1)], {"unsigned": 1.0})  # Not checked by a signature.
    stranger = reverb.TFClient(service.address)
    stranger.insert(
        data=[np.zeros([3, 4], np.float32)] * 5,
        tables=tf.constant(["unsigned"]),
        priorities=tf.constant([1.0], tf.float64),
    )
    pull = reverb.cc.ops.gen_reverb_ops.reverb_variable_pull
    for dtypes, shapes, text in (
        ([tf.float32], [[3, 4]], "has 5 variables; expected 1"),
        (
            [tf.float32] * 4 + [tf.int32],
            [[3, 4]] * 5,
            r"Variable 4 .* float \[3,4\]; expected int32",
        ),
        (
            [tf.float32] * 5,
            [[3, 4]] * 4 + [[4]],
            r"Variable 4 .* float \[3,4\]; expected float \[4\]",
        ),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            in_mode(
                mode,
                lambda dtypes=dtypes, shapes=shapes: pull(
                    handle=stranger.handle,
                    table="unsigned",
                    min_version=0,
                    timeout_ms=-1,
                    Toutput_list=dtypes,
                    output_shapes=shapes,
                ),
            )


@both_modes
@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_timeouts_that_are_none(container, mode, timeout):
    with pytest.raises(ValueError, match="timeout must be >= 0 or None"):
        in_mode(mode, lambda: container.pull(timeout=timeout))

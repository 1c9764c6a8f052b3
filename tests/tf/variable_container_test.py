"""VariableContainer: pushing, pulling and updating, in eager mode, in tf.function and in v1 graphs."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf import variables_support
from tests.tf.support import wait_until_blocked
from tests.tf.variables_support import Layer, both_modes, in_mode, make_variables, numbers

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(variables_support.table())


@pytest.fixture
def container(service):
    return reverb.VariableContainer(service.address)


@both_modes
def test_pull_returns_what_was_pushed(container, mode):
    values = make_variables(3)
    assert in_mode(mode, lambda: container.push(values)) is None
    pulled = in_mode(mode, container.pull)
    assert list(pulled) == ["layers", "step"]
    assert isinstance(pulled["layers"], list)
    assert pulled["layers"][0]._fields == ("kernel", "bias")
    assert isinstance(pulled["step"], tuple)
    for pushed, got in zip(tf.nest.flatten(values), tf.nest.flatten(pulled), strict=True):
        assert got.dtype == pushed.dtype
        np.testing.assert_array_equal(got, pushed)


@both_modes
def test_pull_returns_the_newest(service, container, mode):
    for value in (1, 2, 3):
        container.push(make_variables(value))
        assert numbers(in_mode(mode, container.pull)) == {value}
        assert numbers(in_mode(mode, container.pull)) == {value}
    assert service.client.server_info(timeout=10)["variables"].current_size == 1


@both_modes
def test_update_assigns(container, mode):
    container.push(make_variables(5))
    variables = make_variables(0)
    assert in_mode(mode, lambda: container.update(variables)) is None
    assert numbers(variables) == {5}


def test_one_function_pushes_and_pulls_in_order(container):
    variables = make_variables(0)
    copies = make_variables(0)

    @tf.function
    def run(rounds):
        for i in tf.range(rounds):
            for variable in tf.nest.flatten(variables):
                variable.assign(tf.fill(tf.shape(variable), tf.cast(i + 1, variable.dtype)))
            container.push(variables)
            container.update(copies)
            tf.debugging.assert_equal(copies["step"][0], tf.cast(i + 1, tf.int64))
        return container.pull()

    assert numbers(run(tf.constant(50))) == {50}
    assert numbers(copies) == {50}


def test_pull_has_static_shapes(container):
    @tf.function
    def pull():
        nest = container.pull()
        assert nest["layers"][0].kernel.shape == [3, 4]
        assert nest["step"][0].shape == []
        assert nest["step"][0].dtype == tf.int64
        return nest

    pull.get_concrete_function()


def test_unknown_dimensions(make_service):
    service = make_service(
        reverb.variable_table({"x": tf.TensorSpec([None, 2], tf.float32), "y": tf.TensorSpec(None)})
    )
    container = reverb.VariableContainer(service.address)

    @tf.function
    def pull():
        nest = container.pull()
        assert nest["x"].shape.as_list() == [None, 2]
        assert nest["y"].shape.rank is None
        return nest

    for rows in (0, 1, 5):
        container.push({"x": np.ones([rows, 2], np.float32), "y": np.float32(rows)})
        assert pull()["x"].shape == [rows, 2]
        assert pull()["y"] == rows


def test_sequence_types_do_not_count(container):
    values = make_variables(4)
    values["layers"] = tuple(list(layer) for layer in values["layers"])
    values["step"] = list(values["step"])
    container.push(values)
    assert numbers(container.pull()) == {4}
    variables = make_variables(0)
    variables["layers"] = tuple((layer.bias, layer.kernel)[::-1] for layer in variables["layers"])
    container.update(variables)
    assert numbers(variables) == {4}


def test_structures_that_a_module_tracks(container):
    class Model(tf.Module):
        def __init__(self, value):
            super().__init__()
            self.variables_of_it = make_variables(value)

    model = Model(6)
    container.push(model.variables_of_it)
    other = Model(0)
    container.update(other.variables_of_it)
    assert numbers(other.variables_of_it) == {6}


def test_values_that_are_no_variables(container):
    values = tf.nest.map_structure(np.asarray, make_variables(2))
    container.push(values)
    assert numbers(container.pull()) == {2}
    container.push(tf.nest.map_structure(tf.constant, values))
    assert numbers(container.pull()) == {2}


def test_one_variable_without_a_nest(make_service):
    service = make_service(reverb.variable_table(tf.Variable([1.0, 2.0])))
    container = reverb.VariableContainer(service.address)
    container.push(tf.Variable([3.0, 4.0]))
    variable = tf.Variable([0.0, 0.0])
    container.update(variable)
    assert variable.numpy().tolist() == [3, 4]
    assert container.pull().numpy().tolist() == [3, 4]


def test_tables_are_separate(make_service):
    service = make_service(
        variables_support.table(name="a"), variables_support.table({"x": tf.constant(1)}, "b")
    )
    container = reverb.VariableContainer(service.address, ["a", "b"])
    container.push(make_variables(1), "a")
    container.push({"x": 2}, table="b")
    assert numbers(container.pull("a")) == {1}
    assert numbers(container.pull(table="b")) == {2}


@both_modes
def test_pull_waits_for_the_first_push(service, container, in_thread, mode):
    blocked = in_thread(lambda: in_mode(mode, container.pull))
    wait_until_blocked(blocked)
    container.push(make_variables(7))
    assert numbers(blocked.result()) == {7}


@both_modes
def test_pull_and_update_time_out(service, container, mode):
    variables = make_variables(1)
    for call in (
        lambda: container.pull(timeout=0),
        lambda: container.pull(timeout=0.1),
        lambda: container.update(variables, timeout=0.1),
    ):
        with pytest.raises(tf.errors.DeadlineExceededError, match="Table 'variables'"):
            in_mode(mode, call)
    assert numbers(variables) == {1}
    container.push(make_variables(7))
    assert numbers(in_mode(mode, lambda: container.pull(timeout=0))) == {7}


def test_strings_and_many_dtypes(make_service):
    values = {
        dtype.name: tf.cast(tf.constant([0, 1]), dtype)
        for dtype in (tf.float64, tf.bfloat16, tf.half, tf.int8, tf.uint64, tf.bool, tf.complex64)
    }
    values["string"] = tf.constant([["a", ""], ["bcd", "\0"]])
    values["empty"] = tf.zeros([0, 3])
    container = reverb.VariableContainer(make_service(reverb.variable_table(values)).address)
    container.push(values)
    for name, value in container.pull().items():
        assert value.dtype == values[name].dtype
        np.testing.assert_array_equal(value, values[name])


def test_what_the_reference_ops_read_and_write(service, container):
    """`TFClient.sample` and `insert`, which TF-Agents' container is made of, on the same table."""
    client = reverb.TFClient(service.address)
    values = make_variables(8)
    container.push(values)
    dtypes = tf.nest.map_structure(lambda v: v.dtype, values)
    assert numbers(client.sample("variables", [dtypes]).data[0]) == {8}
    client.insert(
        data=tf.nest.flatten(make_variables(9)),
        tables=tf.constant(["variables"]),
        priorities=tf.constant([1.0], tf.float64),
    )
    assert numbers(container.pull()) == {9}


def test_v1_graphs(service, graph):
    container = reverb.VariableContainer(service.address)
    variables = {
        "layers": [
            Layer(v1.get_variable("k0", [3, 4]), v1.get_variable("b0", [4])),
            Layer(v1.get_variable("k1", [4, 2]), v1.get_variable("b1", [2])),
        ],
        "step": (v1.get_variable("step", [], tf.int64),),
    }
    push, pull, update = (
        container.push(variables),
        container.pull(),
        container.update(variables, timeout=30),
    )
    assign = [v.assign(tf.zeros_like(v)) for v in tf.nest.flatten(variables)]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        kernel = session.run(variables["layers"][0].kernel)
        session.run(push)
        session.run(assign)
        np.testing.assert_array_equal(session.run(pull)["layers"][0].kernel, kernel)
        session.run(update)
        np.testing.assert_array_equal(session.run(variables["layers"][0].kernel), kernel)


def test_repr(container, service):
    assert service.address in repr(container)
    assert "variables" in repr(container)

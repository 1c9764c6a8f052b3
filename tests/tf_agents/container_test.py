"""TF-Agents' ReverbVariableContainer, unmodified, on this package."""

import collections

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf import support as tf_support
from tests.tf_agents import support

agents = support.tf_agents()

Model = collections.namedtuple("Model", "weights steps")
_SIGNATURE = Model(
    weights=[tf.TensorSpec([2], tf.float32), {"bias": tf.TensorSpec([], tf.float32)}],
    steps=tf.TensorSpec([], tf.int64),
)


def model(value):
    weights = [np.full(2, value, np.float32), {"bias": np.float32(value)}]
    return Model(weights=weights, steps=np.int64(value))


def table(name="variables", signature=_SIGNATURE, max_size=1):
    return tf_support.uniform_table(name, signature, max_size=max_size)


@pytest.fixture
def server():
    tables = [table(), table("other"), table("large", max_size=2), table("bare", None)]
    server = reverb.Server(tables, port=None)
    yield server
    server.stop()


@pytest.fixture
def container(server):
    return agents.ReverbVariableContainer(f"localhost:{server.port}", ["variables", "other"])


@pytest.mark.parametrize(
    "name, error", [("nothing", KeyError), ("large", ValueError), ("bare", TypeError)]
)
def test_tables_that_do_not_do(server, name, error):
    with pytest.raises(error):
        agents.ReverbVariableContainer(f"localhost:{server.port}", [name])


@pytest.mark.parametrize("in_graph", [False, True], ids=["eager", "graph"])
def test_the_newest_push_is_pulled_again_and_again(container, in_graph):
    push = tf.function(container.push) if in_graph else container.push
    pull = tf.function(container.pull) if in_graph else container.pull
    for value in (1, 2):
        push(model(value))
        for _ in range(2):
            got = pull()
            assert got._fields == Model._fields and got.steps == value
            assert got.weights[0].numpy().tolist() == [value, value]
    container.push(model(5), "other")
    assert container.pull("other").weights[1]["bias"] == 5 and container.pull().steps == 2


@pytest.mark.parametrize("in_graph", [False, True], ids=["eager", "graph"])
def test_update(container, in_graph):
    variables = tf.nest.map_structure(tf.Variable, model(0))
    container.push(tf.nest.map_structure(tf.Variable, model(7)))
    update = lambda: container.update(variables)  # noqa: E731
    (tf.function(update) if in_graph else update)()
    assert variables.steps.numpy() == 7 and variables.weights[0].numpy().tolist() == [7, 7]


def test_update_of_something_else(container):
    container.push(model(1))
    with pytest.raises(ValueError):
        container.update([tf.Variable(1.0)])
    wrong = tf.nest.map_structure(tf.Variable, model(0))._replace(steps=tf.Variable(0.0))
    with pytest.raises(ValueError):
        container.update(wrong)


@pytest.mark.parametrize(
    "values", [[1.0], model(0)._replace(steps=1.5), model(0)._replace(weights=[1.0, 2.0])]
)
def test_push_of_something_else(container, values):
    with pytest.raises(tf.errors.InvalidArgumentError):
        container.push(values)


def test_tables_that_were_not_named(container):
    for call in (
        lambda: container.push(model(0), "large"),
        lambda: container.pull("large"),
        lambda: container.update(model(0), "large"),
    ):
        with pytest.raises(KeyError):
            call()


def test_pull_waits_for_the_first_push(container, in_thread):
    call = in_thread(container.pull)
    container.push(model(3))
    assert call.result().steps == 3


def test_mirrored_variables(container):
    if len(tf.config.list_logical_devices("CPU")) < 2:
        pytest.skip("TensorFlow was in use before it could be given two CPUs")
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        variables = tf.nest.map_structure(tf.Variable, model(4))
    container.push(variables)
    assert container.pull().weights[0].numpy().tolist() == [4, 4]
    container.push(model(6))
    container.update(variables)
    assert variables.steps.numpy() == 6

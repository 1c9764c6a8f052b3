"""VariableContainer: cancellation, many pullers, restarts of the server, distribution strategies, random nests."""

import threading

import hypothesis
import numpy as np
import portpicker
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from tensorflow.python.eager import cancellation

import reverb_tf as reverb
from tests.python_api import arrays
from tests.tf import variables_support
from tests.tf.support import Call, wait_until_blocked
from tests.tf.variables_support import make_variables, numbers

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(variables_support.table())


@pytest.fixture
def container(service):
    return reverb.VariableContainer(service.address)


# Cancellation.


@pytest.mark.parametrize("kind", ["pull", "wait_for", "update"])
def test_a_cancelled_function_ends_a_blocked_call(container, in_thread, kind):
    variables = make_variables()
    call = {
        "pull": container.pull,
        "wait_for": lambda: container.wait_for(3),
        "update": lambda: container.update(variables),
    }[kind]
    if kind == "wait_for":
        container.push(make_variables(1))
    manager = cancellation.CancellationManager()
    cancelable = manager.get_cancelable_function(tf.function(call).get_concrete_function())
    blocked = in_thread(cancelable)
    wait_until_blocked(blocked)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)
    assert numbers(variables) == {0}
    for value in (2, 3, 4):
        container.push(make_variables(value))
    assert numbers(container.pull()) == {4}


def test_a_session_closed_while_pulls_are_blocked(service, graph, in_thread):
    container = reverb.VariableContainer(service.address)
    pulls = [container.pull() for _ in range(8)]
    session = v1.Session()
    blocked = in_thread(lambda: session.run(pulls))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


def test_a_blocked_push_is_cancelled(make_service, in_thread):
    """A table whose limiter lets no second item in before the first was sampled."""
    table = reverb.Table(
        name="slow",
        sampler=reverb.selectors.Uniform(),
        remover=reverb.selectors.Fifo(),
        max_size=1,
        rate_limiter=reverb.rate_limiters.Queue(1),
        signature=[tf.TensorSpec([])],
    )
    container = reverb.VariableContainer(make_service(table).address, ["slow"])
    container.push([1.0], "slow")
    manager = cancellation.CancellationManager()
    push = tf.function(lambda: container.push([2.0], "slow"))
    blocked = in_thread(manager.get_cancelable_function(push.get_concrete_function()))
    wait_until_blocked(blocked)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


def test_blocked_pulls_hold_no_threads(container, in_thread):
    """More of them than TensorFlow has threads, and an op that is to run all the same."""
    pull = tf.function(lambda: [container.pull() for _ in range(64)])
    blocked = in_thread(pull)
    wait_until_blocked(blocked)
    assert tf.function(lambda x: tf.reduce_sum(x * 2))(tf.ones([10])) == 20
    tf.function(lambda: container.push(make_values(3)))()
    assert numbers(blocked.result()) == {3}


def make_values(value):
    return tf.nest.map_structure(lambda v: tf.fill(v.shape, tf.cast(value, v.dtype)), SPECS)


SPECS = tf.nest.map_structure(lambda v: tf.TensorSpec(v.shape, v.dtype), make_variables())


# Many pullers.


def test_a_pull_never_mixes_two_pushes(make_service):
    """Eight pullers while a learner pushes variables that all say one number, which only grows."""
    signature = [tf.TensorSpec([n], tf.float32) for n in (1, 70_000, 10, 140_000)]
    container = reverb.VariableContainer(make_service(reverb.variable_table(signature)).address)
    container.push([np.full(spec.shape, 0, np.float32) for spec in signature])
    done = threading.Event()

    @tf.function
    def spread():
        values = container.pull()
        lows = [tf.reduce_min(value) for value in values]
        highs = [tf.reduce_max(value) for value in values]
        return tf.reduce_min(lows), tf.reduce_max(highs)

    def pull() -> list[float]:
        seen = [-1.0]
        while not done.is_set():
            low, high = spread()
            assert low == high
            assert low >= seen[-1]
            seen.append(float(low))
        return seen

    pullers = [Call(pull) for _ in range(8)]
    push = tf.function(
        lambda number: container.push([tf.fill(spec.shape, number) for spec in signature])
    )
    for number in range(1, 61):
        push(tf.constant(float(number)))
    done.set()
    for puller in pullers:
        seen = puller.result()
        assert max(seen) <= 60
    assert float(spread()[0]) == 60


def test_what_was_pushed_is_there_for_everybody(container):
    """A push is over when a pull sees it, whoever pulls."""
    others = [reverb.VariableContainer(container._client.server_address) for _ in range(3)]
    for number in range(20):
        container.push(make_variables(number))
        for other in others:
            assert numbers(other.pull()) == {number}


# A server that comes back.


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0"])
def test_a_server_that_is_started_again(host, in_thread):
    port = portpicker.pick_unused_port()
    server = reverb.Server([variables_support.table()], port=port)
    container = reverb.VariableContainer(f"{host}:{port}")
    try:
        container.push(make_variables(1))
        assert numbers(container.pull()) == {1}
        server.stop()
        server = reverb.Server([variables_support.table()], port=port)
        blocked = in_thread(container.pull)
        container.push(make_variables(2))
        assert numbers(blocked.result()) == {2}
        version, values, is_newer = container.pull_if_newer(7)
        assert (int(version), numbers(values), bool(is_newer)) == (1, {2}, True)
    finally:
        server.stop()


# Distribution strategies.


@pytest.fixture
def strategy():
    if len(tf.config.list_logical_devices("CPU")) < 4:
        pytest.skip("TensorFlow was started with fewer than four virtual CPUs")
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(4)])


@variables_support.both_modes
def test_mirrored_variables_are_one_value(container, strategy, mode):
    with strategy.scope():
        learner, actor = make_variables(5), make_variables(0)
    variables_support.in_mode(mode, lambda: container.push(learner))
    assert numbers(container.pull()) == {5}
    variables_support.in_mode(mode, lambda: container.update(actor))
    for variable in tf.nest.flatten(actor):
        for value in strategy.experimental_local_results(variable):
            assert numbers([value]) == {5}


def test_mirrored_variables_that_are_newer(container, strategy):
    with strategy.scope():
        actor = make_variables(0)
    container.push(make_variables(3))
    update = tf.function(lambda version: container.update_if_newer(actor, version))
    version, changed = update(tf.constant(0, tf.int64))
    assert (int(version), bool(changed), numbers(actor)) == (1, True, {3})
    assert not update(version)[1]


# Nests of everything.


_DTYPES = [dtype for dtype in arrays.DTYPES if dtype.name in dir(tf)]


@st.composite
def nests(draw):
    leaf = st.builds(
        arrays.random_array,
        st.integers(0, 1 << 32),
        st.lists(st.integers(0, 4), max_size=3).map(tuple),
        st.sampled_from(_DTYPES),
    )
    return draw(
        st.recursive(
            leaf,
            lambda inner: st.one_of(
                st.lists(inner, min_size=1, max_size=3),
                st.lists(inner, min_size=1, max_size=3).map(tuple),
                st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
            ),
            max_leaves=8,
        )
    )


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0"])
@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(nest=nests(), in_graph=st.booleans())
def test_random_nests(host, nest, in_graph):
    # Not arrays: a constant that a graph makes of one has other NaNs.
    nest = tf.nest.map_structure(tf.constant, nest)
    with reverb.Server([reverb.variable_table(nest)]) as server:
        container = reverb.VariableContainer(f"{host}:{server.port}")
        mode = "function" if in_graph else "eager"
        variables_support.in_mode(mode, lambda: container.push(nest))
        pulled = variables_support.in_mode(mode, container.pull)
        tf.nest.assert_same_structure(nest, pulled)
        variables = tf.nest.map_structure(lambda a: tf.Variable(tf.zeros_like(a)), nest)
        container.update(variables)
        for want, got, variable in zip(
            *map(tf.nest.flatten, (nest, pulled, variables)), strict=True
        ):
            for value in (got, variable):
                assert value.dtype == want.dtype
                assert value.shape == want.shape
                assert value.numpy().tobytes() == want.numpy().tobytes()

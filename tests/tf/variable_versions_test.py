"""Versions of variables: waiting for one, and pulling only what is newer."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf import variables_support
from tests.tf.support import wait_until_blocked
from tests.tf.variables_support import both_modes, in_mode, make_variables, numbers


@pytest.fixture
def service(make_service):
    return make_service(variables_support.table())


@pytest.fixture
def container(service):
    return reverb.VariableContainer(service.address)


@both_modes
def test_versions_count_pushes(service, container, mode):
    for version in (1, 2, 3):
        container.push(make_variables(version))
        found, values = in_mode(mode, lambda version=version: container.wait_for(version))
        assert found.dtype == tf.int64
        assert found == version
        assert numbers(values) == {version}
    assert service.client.server_info(timeout=10)["variables"].version == 3
    version, values = in_mode(mode, lambda: container.wait_for(1))
    assert version == 3
    assert numbers(values) == {3}


@both_modes
def test_wait_for_returns_with_the_push_it_waits_for(container, in_thread, mode):
    container.push(make_variables(1))
    blocked = in_thread(lambda: in_mode(mode, lambda: container.wait_for(3)))
    wait_until_blocked(blocked)
    container.push(make_variables(2))
    wait_until_blocked(blocked)
    assert numbers(container.pull()) == {2}  # Whoever waits does not block others.
    container.push(make_variables(3))
    version, values = blocked.result()
    assert version == 3
    assert numbers(values) == {3}


def test_nothing_is_asked_while_somebody_waits(service, container, in_thread):
    blocked = in_thread(lambda: container.wait_for(1))
    wait_until_blocked(blocked)
    info = service.client.server_info(timeout=10)["variables"]
    assert info.waiting_samples == 1
    assert info.rate_limiter_info.sample_stats.completed == 0
    container.push(make_variables(1))
    blocked.result()
    assert service.samples_taken("variables") == 1


@both_modes
def test_wait_for_times_out(container, mode):
    container.push(make_variables(1))
    with pytest.raises(
        tf.errors.DeadlineExceededError,
        match="Table 'variables': Sampling waits for version 5; there is version 1",
    ):
        in_mode(mode, lambda: container.wait_for(5, timeout=0.1))


@both_modes
def test_pull_if_newer(service, container, mode):
    def pull(version):
        return in_mode(mode, lambda: container.pull_if_newer(version))

    version, values, is_newer = pull(0)
    assert (int(version), bool(is_newer)) == (0, False)
    assert numbers(values) == {0}
    assert values["layers"][0].kernel.shape == [3, 4]
    container.push(make_variables(7))
    version, values, is_newer = pull(0)
    assert (int(version), bool(is_newer), numbers(values)) == (1, True, {7})
    taken = service.samples_taken("variables")
    version, values, is_newer = pull(1)
    assert (int(version), bool(is_newer), numbers(values)) == (1, False, {0})
    assert service.samples_taken("variables") == taken
    container.push(make_variables(8))
    version, values, is_newer = pull(tf.constant(1, tf.int64))
    assert (int(version), bool(is_newer), numbers(values)) == (2, True, {8})


@both_modes
def test_pull_if_newer_with_a_default(container, mode):
    default = make_variables(5)
    call = tf.function(container.pull_if_newer) if mode == "function" else container.pull_if_newer
    assert numbers(call(0, default=default)[1]) == {5}
    container.push(make_variables(6))
    assert numbers(call(0, default=default)[1]) == {6}
    assert numbers(call(1, default=default)[1]) == {5}
    with pytest.raises(tf.errors.InvalidArgumentError, match="nested"):
        call(1, default=5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'step/0' is int32"):
        call(1, default={**default, "step": [tf.constant(5)]})


def test_a_function_that_pulls_what_is_newer_in_a_loop(container):
    variables = make_variables(0)

    def filled(variable, number):
        return tf.fill(tf.shape(variable), tf.cast(number, variable.dtype))

    @tf.function
    def run(rounds):
        version = tf.constant(0, tf.int64)
        changes = tf.constant(0)
        for i in tf.range(rounds):
            if i % 3 == 0:
                container.push(tf.nest.map_structure(lambda v, n=i + 1: filled(v, n), variables))
            version, is_newer = container.update_if_newer(variables, version)
            changes += tf.cast(is_newer, tf.int32)
            tf.debugging.assert_equal(variables["step"][0], tf.cast(i // 3 * 3 + 1, tf.int64))
        return version, changes

    version, changes = run(tf.constant(9))
    assert (int(version), int(changes)) == (3, 3)
    assert numbers(variables) == {7}


@both_modes
def test_update_if_newer(container, mode):
    variables = make_variables(0)
    call = (
        tf.function(container.update_if_newer) if mode == "function" else container.update_if_newer
    )
    version, changed = call(variables, 0)
    assert (int(version), bool(changed), numbers(variables)) == (0, False, {0})
    container.push(make_variables(4))
    version, changed = call(variables, version)
    assert (int(version), bool(changed), numbers(variables)) == (1, True, {4})
    for variable in tf.nest.flatten(variables):
        variable.assign(tf.zeros_like(variable))
    version, changed = call(variables, version)
    assert (int(version), bool(changed), numbers(variables)) == (1, False, {0})
    with pytest.raises(ValueError, match="nested"):
        call(variables["layers"], 0)


def test_a_version_of_a_server_that_began_anew(container):
    container.push(make_variables(2))
    version, values, is_newer = container.pull_if_newer(100)
    assert (int(version), bool(is_newer), numbers(values)) == (1, True, {2})


def test_versions_go_on_after_a_reset(service, container):
    container.push(make_variables(1))
    service.client.reset("variables")
    assert not container.pull_if_newer(1)[2]
    assert not container.pull_if_newer(0)[2]
    container.push(make_variables(2))
    version, values = container.wait_for(2)
    assert version == 2
    assert numbers(values) == {2}


@pytest.mark.parametrize("layout", ["incremental", "reverb"])
def test_versions_survive_a_checkpoint(tmp_path: pathlib.Path, layout):
    def start():
        checkpointer = reverb.checkpointers.DefaultCheckpointer(str(tmp_path), format=layout)
        return reverb.Server([variables_support.table()], checkpointer=checkpointer, port=None)

    with start() as server:
        container = reverb.VariableContainer(f"localhost:{server.port}")
        container.push(make_variables(1))
        server.localhost_client().reset("variables")
        container.push(make_variables(2))
        server.localhost_client().checkpoint()
    with start() as server:
        container = reverb.VariableContainer(f"localhost:{server.port}")
        version, values, is_newer = container.pull_if_newer(1)
        assert (int(version), bool(is_newer), numbers(values)) == (2, True, {2})
        assert not container.pull_if_newer(2)[2]


def test_unknown_dimensions_of_what_is_not_newer(make_service):
    signature = {
        "a": tf.TensorSpec([None, 2], tf.float64),
        "b": tf.TensorSpec(None, tf.bool),
        "c": tf.TensorSpec([1], tf.string),
    }
    container = reverb.VariableContainer(make_service(reverb.variable_table(signature)).address)
    values = container.pull_if_newer(0)[1]
    assert values["a"].shape == [0, 2]
    assert values["b"].numpy() == np.False_
    assert values["c"].numpy().tolist() == [b""]


def test_a_server_that_does_not_count(container, monkeypatch):
    for spec in container._tables.values():
        spec.has_versions = False
    for call in (
        lambda: container.wait_for(1),
        lambda: container.pull_if_newer(1),
        lambda: container.update_if_newer(make_variables(), 1),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match="does not count versions"):
            call()

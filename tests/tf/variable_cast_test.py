"""Variables that have another floating point dtype on their way."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.variables_support import both_modes, in_mode

VALUES = {"w": np.array([1.0, 1 / 3, -2.5], np.float32), "n": np.int64(1 << 40)}


@pytest.fixture
def service(make_service):
    return make_service(
        reverb.variable_table(VALUES, wire_dtype="bfloat16"), reverb.variable_table(VALUES, "full")
    )


@pytest.fixture
def container(service):
    return reverb.VariableContainer(service.address, ["variables", "full"], cast=True)


@both_modes
def test_push_and_update_cast(service, container, mode):
    variables = tf.nest.map_structure(lambda v: tf.Variable(tf.zeros_like(v)), VALUES)
    in_mode(mode, lambda: container.push(VALUES))
    in_mode(mode, lambda: container.update(variables))
    rounded = tf.cast(tf.cast(VALUES["w"], tf.bfloat16), tf.float32)
    assert variables["w"].dtype == tf.float32
    np.testing.assert_array_equal(variables["w"], rounded)
    assert variables["n"] == 1 << 40
    assert service.client.server_info(timeout=10)["variables"].data_bytes < 150


@both_modes
def test_pull_casts_where_it_is_asked_to(container, mode):
    container.push(VALUES)
    assert in_mode(mode, container.pull)["w"].dtype == tf.bfloat16
    for dtypes in ("float32", tf.float32, np.float32, {"w": "float32", "n": tf.int64}):
        pulled = in_mode(mode, lambda dtypes=dtypes: container.pull(dtypes=dtypes))
        assert pulled["w"].dtype == tf.float32
        assert pulled["n"].dtype == tf.int64
        assert pulled["n"] == 1 << 40
    assert container.wait_for(1, dtypes="float64")[1]["w"].dtype == tf.float64
    assert container.pull_if_newer(0, dtypes="half")[1]["w"].dtype == tf.half
    assert container.pull_if_newer(1, default=VALUES, dtypes="half")[1]["w"].dtype == tf.half


def test_update_if_newer_casts(container):
    container.push(VALUES)
    variables = tf.nest.map_structure(lambda v: tf.Variable(tf.zeros_like(v)), VALUES)
    version, changed = tf.function(lambda: container.update_if_newer(variables, 0))()
    assert (int(version), bool(changed)) == (1, True)
    assert variables["w"][0] == 1
    assert not tf.function(lambda: container.update_if_newer(variables, 1))()[1]


def test_a_table_of_full_precision_takes_half(container):
    half = {**VALUES, "w": VALUES["w"].astype(np.float16)}
    container.push(half, "full")
    pulled = container.pull("full")
    assert pulled["w"].dtype == tf.float32
    np.testing.assert_array_equal(pulled["w"], half["w"].astype(np.float32))


@both_modes
def test_nothing_is_cast_unless_it_is_asked_for(service, mode):
    container = reverb.VariableContainer(service.address)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'w' is float32 .*says bfloat16"):
        in_mode(mode, lambda: container.push(VALUES))
    container.push({**VALUES, "w": tf.cast(VALUES["w"], tf.bfloat16)})
    variables = tf.nest.map_structure(tf.Variable, VALUES)
    with pytest.raises(ValueError, match="'w' is float32 .*says bfloat16"):
        in_mode(mode, lambda: container.update(variables))
    np.testing.assert_array_equal(variables["w"], VALUES["w"])


@both_modes
def test_only_floats_are_cast(container, mode):
    for name, value in (("n", np.int32(1)), ("n", np.float32(1)), ("w", np.zeros([3], np.int64))):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"'{name}' is"):
            in_mode(mode, lambda name=name, value=value: container.push({**VALUES, name: value}))
    for dtypes, text in (
        ("int32", "floating point"),
        ({"w": "int32", "n": "int64"}, "'w' is int32"),
        ({"w": "float32", "n": "float32"}, "'n' is float32"),
        ({"w": "float32"}, "nested"),
    ):
        with pytest.raises(ValueError, match=text):
            in_mode(mode, lambda dtypes=dtypes: container.pull(dtypes=dtypes))

"""Large arrays: tensors that share the memory they were received in, and those that are decoded on other threads."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf import variables_support
from tests.tf.variables_support import both_modes, in_mode


def _arrays(seed: int) -> list[np.ndarray]:
    """One that does not compress, one that does, a small one: each takes another way through a pull."""
    noise = np.random.default_rng(seed).standard_normal([200_000]).astype(np.float32)
    return [
        noise,
        np.full([400_000], seed, np.float64),
        np.float32([seed]),
        noise.reshape([400, 500]),
    ]


@pytest.fixture
def service(make_service):
    return make_service(variables_support.table(_arrays(0)))


def _assert_equal(got, expected):
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@both_modes
def test_what_was_pulled_stays_as_it_was(service, mode):
    container = reverb.VariableContainer(service.address)
    container.push(_arrays(1))
    first, second = in_mode(mode, container.pull), in_mode(mode, container.pull)
    variables = [tf.Variable(value) for value in _arrays(0)]
    in_mode(mode, lambda: container.update(variables))
    for variable, value in zip(variables, second, strict=True):
        variable.assign_add(tf.ones_like(variable))
        variable.assign(value)
        variable.assign_add(tf.ones_like(variable))
    # Memory that is free again is used for these.
    for seed in range(2, 12):
        container.push(_arrays(seed))
        _assert_equal(in_mode(mode, container.pull), _arrays(seed))
    _assert_equal(first, _arrays(1))
    _assert_equal(second, _arrays(1))
    _assert_equal(variables, [value + np.ones_like(value) for value in _arrays(1)])


def test_ops_that_could_work_in_place_do_not(service):
    container = reverb.VariableContainer(service.address)
    container.push(_arrays(1))

    @tf.function
    def run():
        values = container.pull()
        doubled = [value + value for value in values]
        scattered = tf.tensor_scatter_nd_update(values[0], [[0]], [7.0])
        return values, doubled, scattered

    values, doubled, scattered = run()
    _assert_equal(values, _arrays(1))
    _assert_equal(doubled, [value + value for value in _arrays(1)])
    assert scattered[0] == 7.0
    np.testing.assert_array_equal(scattered[1:], _arrays(1)[0][1:])


@both_modes
def test_samples_of_a_client(service, mode):
    container = reverb.VariableContainer(service.address)
    client = reverb.TFClient(service.address)
    dtypes = [tf.as_dtype(value.dtype) for value in _arrays(0)]
    samples = []
    for seed in range(5):
        container.push(_arrays(seed))
        samples.append(in_mode(mode, lambda: client.sample("variables", dtypes).data))
        samples.append(
            in_mode(mode, lambda: client.sample("variables", dtypes, num_samples=3).data)
        )
    for seed in range(5):
        _assert_equal(samples[2 * seed], _arrays(seed))
        _assert_equal(samples[2 * seed + 1], [np.stack([value] * 3) for value in _arrays(seed)])


def test_pulls_at_once(service, in_thread):
    container = reverb.VariableContainer(service.address)
    container.push(_arrays(3))

    @tf.function
    def pull():
        return container.pull()

    def pull_often():
        for _ in range(20):
            _assert_equal(pull(), _arrays(3))

    for call in [in_thread(pull_often) for _ in range(4)]:
        call.result()

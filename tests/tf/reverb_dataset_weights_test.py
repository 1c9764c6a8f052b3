"""ReverbDataset: importance weights, against a computation in numpy."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import reverb_dataset_of, uniform_table

_EXPONENT = 0.7
_PRIORITIES = [0.5, 1.0, 2.0, 3.0, 8.0]


@pytest.fixture
def service(make_service):
    prioritized = reverb.selectors.Prioritized(priority_exponent=_EXPONENT)
    service = make_service(
        uniform_table("prioritized", sampler=prioritized),
        uniform_table("dist"),
        reverb.Table.queue("queue", 10),
    )
    for i, priority in enumerate(_PRIORITIES):
        service.write("prioritized", [np.int64(i)], priority=priority)
    return service


def expected_weights(info, beta, least=None):
    """`least` is the smallest N P; None: that of the batch."""
    size_times_probability = info.table_size.numpy() * info.probability.numpy()
    weights = size_times_probability**-beta
    return weights / (weights.max() if least is None else least**-beta)


def least_of_table(priorities, exponent=_EXPONENT):
    powers = np.array([p for p in priorities if p > 0]) ** exponent
    return len(priorities) * powers.min() / powers.sum()


@pytest.mark.parametrize("beta", [0, 0.4, 1, 1.5])
def test_normalised_by_the_batch(service, beta):
    dataset = reverb_dataset_of(service, "prioritized", batch_size=16, weights=beta)
    for _, batch in zip(range(5), dataset, strict=False):
        assert isinstance(batch._fields, tuple)
        assert batch.weights.dtype == tf.float32
        np.testing.assert_allclose(batch.weights, expected_weights(batch.info, beta), rtol=1e-6)
        assert batch.weights.numpy().max() == 1


@pytest.mark.parametrize("beta", [0, 0.4, 1])
@pytest.mark.parametrize("batch_size", [4, None])
def test_normalised_by_the_table(service, beta, batch_size):
    dataset = reverb_dataset_of(
        service,
        "prioritized",
        batch_size=batch_size,
        weights=beta,
        weights_normalization="table",
    )
    least = least_of_table(_PRIORITIES)
    for _, batch in zip(range(20), dataset, strict=False):
        assert batch.weights.shape == ([4] if batch_size else [])
        expected = expected_weights(batch.info, beta, least)
        np.testing.assert_allclose(batch.weights, expected, rtol=1e-6)
        # The rarest item of the table is the one with weight 1, whether it is there or not.
        of_item = (_PRIORITIES[0] / batch.info.priority.numpy()) ** (_EXPONENT * beta)
        np.testing.assert_allclose(batch.weights, of_item, rtol=1e-5)


def test_items_that_are_never_picked_do_not_count(service):
    service.write("prioritized", [np.int64(9)], priority=0.0)
    dataset = reverb_dataset_of(
        service, "prioritized", batch_size=8, weights=0.5, weights_normalization="table"
    )
    batch = next(iter(dataset))
    least = least_of_table([*_PRIORITIES, 0.0])
    np.testing.assert_allclose(batch.weights, expected_weights(batch.info, 0.5, least), rtol=1e-6)


@pytest.mark.parametrize("normalization", ["batch", "table"])
def test_uniform_tables_have_equal_weights(service, normalization):
    service.write("dist", range(5), priority=3.0)
    dataset = reverb_dataset_of(
        service, batch_size=8, weights=0.5, weights_normalization=normalization
    )
    np.testing.assert_array_equal(next(iter(dataset)).weights, [1] * 8)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_a_variable_is_read_for_each_batch(service, dtype):
    beta = tf.Variable(0.0, dtype=dtype)
    dataset = reverb_dataset_of(
        service, "prioritized", batch_size=16, weights=beta, max_staleness=16
    )
    iterator = iter(dataset)
    for value in (0.0, 0.5, 1.0):
        beta.assign(value)
        batch = next(iterator)
        np.testing.assert_allclose(batch.weights, expected_weights(batch.info, value), rtol=1e-6)


def test_a_variable_is_kept_alive(service):
    iterator = iter(
        reverb_dataset_of(service, "prioritized", batch_size=16, weights=tf.Variable(0.5))
    )
    for _ in range(3):
        batch = next(iterator)
        np.testing.assert_allclose(batch.weights, expected_weights(batch.info, 0.5), rtol=1e-6)


def test_a_variable_in_a_v1_graph(service, graph):
    beta = tf.compat.v1.get_variable("beta", initializer=0.5, use_resource=True)
    dataset = reverb_dataset_of(service, "prioritized", batch_size=4, weights=beta)
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    weights = iterator.get_next().weights
    with tf.compat.v1.Session() as session:
        session.run(beta.initializer)
        session.run(iterator.initializer)
        assert session.run(weights).max() == 1


def test_a_tensor_and_a_dataset_of_exponents(service):
    """In a function of tf.data, the exponent may come from the element."""

    def inner(beta):
        return reverb_dataset_of(
            service, "prioritized", batch_size=16, max_samples=16, weights=beta
        )

    betas = [0.0, 0.5, 1.0]
    dataset = tf.data.Dataset.from_tensor_slices(np.float32(betas)).flat_map(inner)
    for beta, batch in zip(betas, dataset, strict=True):
        np.testing.assert_allclose(batch.weights, expected_weights(batch.info, beta), rtol=1e-6)


def test_a_tensor_that_is_no_exponent(service):
    for value in (-1.0, float("nan"), float("inf")):
        dataset = reverb_dataset_of(
            service, "prioritized", batch_size=2, weights=tf.constant(value)
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be finite and >= 0, got"):
            next(iter(dataset))


def test_in_a_learner(service):
    """Weights, and an exponent that the learner changes, in one function."""
    beta = tf.Variable(0.0)
    dataset = reverb_dataset_of(service, "prioritized", batch_size=8, weights=beta)
    iterator = iter(dataset)

    @tf.function
    def learn(steps):
        least = tf.constant(1.0)
        for _ in tf.range(steps):
            _, data, weights = next(iterator)
            least = tf.minimum(least, tf.reduce_min(weights))
            with tf.control_dependencies([weights]):
                beta.assign_add(0.1)
        return least

    assert learn(tf.constant(1)) == 1
    assert learn(tf.constant(10)) < 1

"""TFClient: several samples and whole trajectories in one op, static shapes, batches of inserts, deletions."""

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import uniform_table, wait_until_blocked

v1 = tf.compat.v1

SIGNATURE = {"a": tf.TensorSpec([2], tf.float32), "s": tf.TensorSpec([], tf.string)}


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist", sampler=reverb.selectors.Prioritized(1.0)),
        uniform_table("steps", signature=SIGNATURE),
        uniform_table("rows", signature={"x": tf.TensorSpec([None, 2], tf.int64)}),
        reverb.Table.queue("queue", 1000),
    )


@pytest.fixture
def client(service):
    return reverb.TFClient(service.address)


def ones(n):
    return np.ones([n], np.float64)


def steps(n):
    return {
        "a": np.arange(2 * n, dtype=np.float32).reshape(n, 2),
        "s": np.array([f"step {i}" for i in range(n)], object),
    }


# Sampling.


def test_several_samples_come_in_one_request(service, client):
    service.write("queue", range(10))
    sample = client.sample("queue", {"x": tf.int64}, num_samples=4)
    assert sample.data["x"].numpy().tolist() == [0, 1, 2, 3]
    assert service.samples_taken("queue") == 4
    for field, dtype in zip(sample.info, reverb.SampleInfo.tf_dtypes(), strict=True):
        assert field.shape == [4]
        assert field.dtype == dtype
    assert sample.info.table_size.numpy().tolist() == [10, 9, 8, 7]
    rest = client.sample("queue", {"x": tf.int64}, num_samples=tf.constant(6))
    assert rest.data["x"].numpy().tolist() == [4, 5, 6, 7, 8, 9]


def test_whole_trajectories(service, client):
    service.write("queue", [1, 2, 3], length=3)
    one = client.sample("queue", {"x": tf.int64}, trajectories=True)
    assert one.data["x"].numpy().tolist() == [1, 1, 1]
    assert one.info.key.shape == []
    two = client.sample("queue", {"x": tf.int64}, trajectories=True, num_samples=2)
    assert two.data["x"].numpy().tolist() == [[2, 2, 2], [3, 3, 3]]


def test_columns_of_different_lengths_and_squeezed_ones(service, client):
    with service.client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for i in range(3):
            writer.append({"a": np.int64(i), "s": f"step {i}"})
        trajectory = {"a": writer.history["a"][-1], "s": writer.history["s"][:]}
        writer.create_item(table="queue", priority=1.0, trajectory=trajectory)
        writer.flush()
    data = client.sample("queue", {"a": tf.int64, "s": tf.string}, trajectories=True).data
    assert data["a"].numpy() == 2
    assert data["s"].numpy().tolist() == [b"step 0", b"step 1", b"step 2"]


def test_samples_of_different_shapes_do_not_make_a_batch(service, client):
    for length in (1, 2):
        service.write("queue", [7], length=length)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"'queue' differ in shape at flattened index 0.*\[1\].*\[2\]",
    ):
        client.sample("queue", {"x": tf.int64}, num_samples=2, trajectories=True)
    # The client goes on.
    service.write("queue", [8])
    assert client.sample("queue", {"x": tf.int64}, num_samples=1).data["x"] == [8]


@pytest.mark.parametrize("dtype, shape", [(tf.float32, None), (tf.int64, [2])])
def test_unfitting_samples_name_both_specs(service, client, dtype, shape):
    service.write("queue", [7])
    shapes = None if shape is None else {"x": shape}
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"flattened index 0 from table 'queue'.*Requested .*Received \(dtype, shape\): \(int64, \[1\]\)",
    ):
        client.sample("queue", {"x": dtype}, data_shapes=shapes, trajectories=True)


def test_unfitting_number_of_columns(service, client):
    service.write("queue", [7])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Received 1 tensors, but 2 were"):
        client.sample("queue", [tf.int64, tf.int64], num_samples=1)


def test_errors_of_sampling(client):
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        client.sample("missing", [tf.int64], num_samples=3)
    for n in (0, -1, 1 << 40):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"num_samples must be .* got {n}"):
            client.sample("dist", [tf.int64], num_samples=n)


def test_samples_wait_for_the_rate_limiter(service, client, in_thread):
    service.write("queue", [0])
    blocked = in_thread(lambda: client.sample("queue", {"x": tf.int64}, num_samples=3))
    wait_until_blocked(blocked)
    service.write("queue", [1, 2])
    assert blocked.result().data["x"].numpy().tolist() == [0, 1, 2]


# Static shapes.


def test_shapes_and_dtypes_of_the_signature(graph, service, client):
    insert = client.insert_batch(steps(3), "steps", ones(3))
    sample = client.sample("steps")
    batch = client.sample("steps", num_samples=2, trajectories=True)
    assert sample.data["a"].shape == [2]
    assert sample.data["s"].shape == []
    assert sample.data["s"].dtype == tf.string
    assert batch.data["a"].shape == [2, 2]
    assert batch.info.key.shape == [2]
    with v1.Session() as session:
        session.run(insert)
        assert session.run(sample).data["a"].shape == (2,)
        assert session.run(batch).data["s"].shape == (2,)


def test_a_signature_of_trajectories(service, client):
    with service.client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for i in range(3):
            writer.append({"x": np.array([i, i])})
        writer.create_item("rows", 1.0, {"x": writer.history["x"][:]})
        writer.flush()

    @tf.function
    def sample(n):
        static = client.sample("rows", trajectories=True, num_samples=5).data["x"]
        dynamic = client.sample("rows", trajectories=True, num_samples=n).data["x"]
        return static, dynamic

    concrete = sample.get_concrete_function(tf.TensorSpec([], tf.int32))
    assert [s.as_list() for s in concrete.output_shapes] == [[5, None, 2], [None, None, 2]]
    static, dynamic = concrete(tf.constant(2))
    assert static.shape == [5, 3, 2]
    assert dynamic.shape == [2, 3, 2]


def test_given_shapes_are_those_of_one_sample(graph, client):
    sample = client.sample("dist", [tf.int64], data_shapes=[[None, 3]], num_samples=7)
    assert sample.data[0].shape.as_list() == [7, None, 3]
    assert client.sample("dist", [tf.int64], num_samples=7).data[0].shape.rank is None


def test_dtypes_that_no_signature_gives(service, client):
    with pytest.raises(ValueError, match="Table dist at .* does not have a signature"):
        client.sample("dist")
    with pytest.raises(ValueError, match="does not contain any table named missing. Found: dist"):
        client.sample("missing")
    with pytest.raises(ValueError, match="data_dtypes must be given"):
        client.sample(tf.constant("steps"))


def test_no_server_that_says_the_signature():
    client = reverb.TFClient("127.0.0.1:1")
    with pytest.raises(reverb.DeadlineExceededError):
        client.sample("steps", get_signature_timeout_secs=0.1)


# Inserting.


def test_insert_batch_keeps_the_order_and_returns_keys(service, client):
    keys = client.insert_batch({"x": np.arange(500)}, "queue", np.arange(1.0, 501.0))
    assert keys.dtype == tf.uint64
    sample = client.sample("queue", {"x": tf.int64}, num_samples=500)
    np.testing.assert_array_equal(sample.data["x"], np.arange(500))
    np.testing.assert_array_equal(sample.info.key, keys)
    np.testing.assert_array_equal(sample.info.priority, np.arange(1.0, 501.0))


def test_items_of_a_batch_have_the_shape_that_the_signature_expects(client):
    client.insert_batch(steps(1), "steps", ones(1))
    client.insert_batch({"x": np.array([[3, 4]])}, "rows", ones(1))
    client.insert_batch({"x": np.array([[3, 4]])}, "dist", ones(1))
    assert client.sample("steps", trajectories=True).data["a"].shape == [2]
    assert client.sample("rows", trajectories=True).data["x"].shape == [1, 2]
    assert client.sample("dist", {"x": tf.int64}, trajectories=True).data["x"].shape == [1, 2]


def test_what_does_not_fit_inserts_nothing(service, client):
    bad = {"a": np.zeros([3, 3], np.float32), "s": steps(3)["s"]}
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"'steps': column 0 \('a'\).*\(float, \[1,3\]\).*\(float, \[2\]\)",
    ):
        client.insert_batch(bad, "steps", ones(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Item 1 of the batch.*'dist'"):
        client.insert_batch([np.arange(3)], "dist", np.array([1.0, -1.0, 1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="'missing'"):
        client.insert_batch([np.arange(3)], "missing", ones(3))
    info = service.client.server_info(timeout=10)
    assert info["steps"].current_size == info["dist"].current_size == 0


def test_shapes_of_a_batch(graph, client):
    with pytest.raises(ValueError, match="must be equal"):
        client.insert_batch([np.arange(3)], "dist", ones(2))
    with pytest.raises(ValueError, match="at least rank 1"):
        client.insert_batch([np.array(3)], "dist", ones(1))
    with pytest.raises(ValueError, match="float64"):
        client.insert_batch([np.arange(3)], "dist", tf.ones([3], tf.float32))
    unknown = v1.placeholder(tf.int64)
    keys = client.insert_batch([unknown], "dist", ones(2))
    assert keys.shape == [2]
    with v1.Session() as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"shape \[3\], but there are 2 priorities"
        ):
            session.run(keys, {unknown: [1, 2, 3]})
        assert session.run(keys, {unknown: [1, 2]}).shape == (2,)


def test_an_empty_batch(service, client):
    assert client.insert_batch([np.zeros([0, 2])], "dist", ones(0)).shape == [0]
    assert service.client.server_info(timeout=10)["dist"].current_size == 0


@hypothesis.settings(deadline=None, max_examples=50)
@hypothesis.given(
    data=st.data(),
    n=st.integers(1, 20),
    dtype=st.sampled_from([np.bool_, np.uint8, np.int32, np.float16, np.float64, np.complex64]),
    inner=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
def test_every_batch_comes_back_equal(data, n, dtype, inner, hypothesis_client):
    values = data.draw(hnp.arrays(dtype, (n, *inner)))
    words = np.array(data.draw(st.lists(st.binary(max_size=9), min_size=n, max_size=n)), object)
    hypothesis_client.insert_batch([values, words], "queue", ones(n))
    sample = hypothesis_client.sample("queue", [values.dtype, tf.string], num_samples=n)
    assert sample.data[0].numpy().tobytes() == values.tobytes()
    assert sample.data[0].shape == values.shape
    assert sample.data[1].numpy().tolist() == words.tolist()


@pytest.fixture(scope="module")
def hypothesis_client():
    server = reverb.Server([reverb.Table.queue("queue", 100)], host="127.0.0.1")
    yield reverb.TFClient(f"127.0.0.1:{server.port}")
    server.stop()


# Deleting and updating.


def test_delete_returns_how_many_there_were(service, client):
    keys = client.insert_batch([np.arange(5)], "dist", ones(5))
    assert client.delete("dist", tf.constant([], tf.uint64)) == 0
    assert client.delete("dist", keys[:2]) == 2
    assert client.delete("dist", keys) == 3
    assert service.client.server_info(timeout=10)["dist"].current_size == 0


def test_delete_in_a_graph(graph, client):
    keys = client.insert_batch([np.arange(5)], "dist", ones(5))
    deleted = client.delete("dist", keys[1:])
    assert deleted.shape == []
    with v1.Session() as session:
        assert session.run(deleted) == 4


def test_errors_of_delete(client):
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        client.delete("missing", tf.constant([1], tf.uint64))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        client.delete("dist", tf.constant([[1]], tf.uint64))


@pytest.mark.parametrize("n", [0, 1, 100_000])
def test_any_number_of_keys_is_updated_in_one_op(service, client, n):
    key = int(client.insert_batch([np.arange(3)], "dist", ones(3))[0])
    # The others are unknown, and ignored.
    keys = np.array([key, *range(n)], np.uint64)[:n]
    client.update_priorities("dist", keys, np.full([n], 5.0))
    priorities = {item.key: item.priority for item in service.client.list_items("dist")}
    assert priorities[key] == (5.0 if n else 1.0)
    assert sorted(priorities.values())[:2] == [1.0, 1.0]


def test_a_hundred_thousand_items_are_updated_and_deleted(make_service):
    n = 100_000
    service = make_service(uniform_table("big", max_size=n))
    client = reverb.TFClient(service.address)
    keys = client.insert_batch([np.zeros([n, 1], np.uint8)], "big", ones(n))
    client.update_priorities("big", keys, np.arange(n, dtype=np.float64))
    sample = client.sample("big", [tf.uint8], num_samples=100)
    expected = dict(zip(keys.numpy().tolist(), range(n), strict=True))
    for key, priority in zip(sample.info.key.numpy(), sample.info.priority.numpy(), strict=True):
        assert expected[int(key)] == priority
    assert client.delete("big", keys) == n

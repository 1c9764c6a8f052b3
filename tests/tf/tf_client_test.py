"""TFClient: updating priorities, inserting, and the modes in which it is used."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from reverb_tf.cc.ops import gen_reverb_ops
from tests.tf.support import uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist", sampler=reverb.selectors.Prioritized(1.0)),
        uniform_table("dist2"),
        uniform_table(
            "signature",
            signature={"x": tf.TensorSpec([2], tf.float32)},
        ),
    )


# Updating priorities.


def test_update_priorities_changes_the_probability(service, graph):
    service.client.insert([np.int64(1)], {"dist": 1.0})
    service.client.insert([np.int64(2)], {"dist": 3.0})
    client = reverb.TFClient(service.address)
    sample = client.sample("dist", [tf.int64])
    key = v1.placeholder(tf.uint64, [1])
    update = client.update_priorities("dist", key, tf.constant([3.0], tf.float64))
    with v1.Session() as session:
        result = session.run(sample)
        while result.data[0] != 1:
            result = session.run(sample)
        assert result.info.probability == 0.25
        session.run(update, {key: [result.info.key]})
        result = session.run(sample)
        assert result.info.probability == 0.5


def test_update_priorities_with_different_shapes(service, graph):
    client = reverb.TFClient(service.address)
    update = client.update_priorities(
        "dist", tf.constant([1, 2], tf.uint64), tf.constant([1.0], tf.float64)
    )
    with v1.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\] and \[1\]"):
            session.run(update)


def test_update_priorities_ignores_unknown_keys_and_reports_unknown_tables(service):
    client = reverb.TFClient(service.address)
    client.update_priorities("dist", tf.constant([1], tf.uint64), tf.constant([1.0], tf.float64))
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        client.update_priorities(
            "missing", tf.constant([1], tf.uint64), tf.constant([1.0], tf.float64)
        )


def test_a_bad_priority_is_refused_to_its_sender_only(service):
    client = reverb.TFClient(service.address)
    service.client.insert([np.int64(1)], {"dist": 1.0})
    key = client.sample("dist", [tf.int64]).info.key
    for priority in (-1.0, float("nan"), float("inf")):
        with pytest.raises(tf.errors.InvalidArgumentError):
            client.update_priorities("dist", [key], tf.constant([priority], tf.float64))
    assert client.sample("dist", [tf.int64]).info.priority == 1.0


# Inserting.


@pytest.mark.parametrize(
    "tables",
    [tf.constant(["a"])[0], tf.constant([["a"]]), tf.constant([1])],
    ids=["rank 0", "rank 2", "dtype"],
)
def test_insert_checks_the_tables(service, tables):
    client = reverb.TFClient(service.address)
    with pytest.raises(ValueError, match="tables must be a string tensor of rank 1"):
        client.insert([tf.constant(1)], tables, tf.constant([1.0], tf.float64))


@pytest.mark.parametrize(
    "priorities",
    [tf.constant(1.0, tf.float64), tf.constant([[1.0]], tf.float64), tf.constant([1])],
    ids=["rank 0", "rank 2", "dtype"],
)
def test_insert_checks_the_priorities(service, priorities):
    client = reverb.TFClient(service.address)
    with pytest.raises(ValueError, match="priorities must be a float64 tensor of rank 1"):
        client.insert([tf.constant(1)], tf.constant(["dist"]), priorities)


def test_insert_checks_that_tables_and_priorities_agree(service, graph):
    client = reverb.TFClient(service.address)
    with pytest.raises(ValueError, match="same shape"):
        client.insert([tf.constant(1)], tf.constant(["dist"]), tf.constant([1.0, 2.0], tf.float64))
    tables = v1.placeholder(tf.string, [None])
    insert = client.insert([tf.constant(1)], tables, tf.constant([1.0, 2.0], tf.float64))
    with v1.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1\] and \[2\]"):
            session.run(insert, {tables: ["dist"]})


def test_insert_into_two_tables(service, graph):
    client = reverb.TFClient(service.address)
    insert = client.insert(
        [tf.constant([1, 2, 3])],
        tf.constant(["dist", "dist2"]),
        tf.constant([1.5, 2.0], tf.float64),
    )
    with v1.Session() as session:
        session.run(insert)
    for table, priority in (("dist", 1.5), ("dist2", 2.0)):
        (sample,) = next(service.client.sample(table))
        np.testing.assert_array_equal(sample.data[0], [1, 2, 3])
        assert sample.info.priority == priority


def test_insert_into_an_unknown_table(service):
    client = reverb.TFClient(service.address)
    with pytest.raises(tf.errors.InvalidArgumentError, match="missing"):
        client.insert([tf.constant(1)], tf.constant(["missing"]), tf.constant([1.0], tf.float64))


def test_insert_against_the_signature(service):
    client = reverb.TFClient(service.address)
    tables = tf.constant(["signature"])
    priorities = tf.constant([1.0], tf.float64)
    client.insert([tf.constant([1.0, 2.0])], tables, priorities)
    for wrong in ([tf.constant([1.0])], [tf.constant([1, 2])], [tf.constant([1.0, 2.0])] * 2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            client.insert(wrong, tables, priorities)
    assert service.client.server_info(timeout=10)["signature"].current_size == 1


def test_insert_without_tables(service):
    with pytest.raises(tf.errors.InvalidArgumentError):
        reverb.TFClient(service.address).insert(
            [tf.constant(1)], tf.constant([], tf.string), tf.constant([], tf.float64)
        )


# Modes of use.


def test_a_thousand_rounds_in_a_while_loop(make_service):
    service = make_service(
        uniform_table("loop", sampler=reverb.selectors.Prioritized(1.0), max_size=10_000)
    )
    client = reverb.TFClient(service.address)

    @tf.function
    def run(rounds):
        total = tf.constant(0, tf.int64)
        for i in tf.range(rounds):
            client.insert([i], tf.constant(["loop"]), tf.constant([1.0], tf.float64))
            sample = client.sample("loop", [tf.int64], data_shapes=[[]])
            client.update_priorities("loop", [sample.info.key], [sample.info.priority + 1.0])
            total += sample.info.table_size
        return total

    assert run(tf.constant(1000, tf.int64)) == sum(range(1, 1001))
    info = service.client.server_info(timeout=10)["loop"]
    assert info.current_size == 1000
    assert info.rate_limiter_info.sample_stats.completed == 1000


def test_a_client_made_in_a_function(service):
    service.client.insert([np.int64(3)], {"dist": 1.0})

    @tf.function
    def run():
        return reverb.TFClient(service.address).sample("dist", [tf.int64]).data[0]

    assert run() == 3
    assert run() == 3


def test_clients_of_different_servers_in_eager_mode(make_service):
    services = [make_service(uniform_table("t")) for _ in range(2)]
    clients = [reverb.TFClient(service.address) for service in services]
    for i, service in enumerate(services):
        service.client.insert([np.int64(i)], {"t": 1.0})
    # Clears TensorFlow's cache of kernels, which must not own the clients.
    tf.random.set_seed(1)
    assert [int(client.sample("t", tf.int64).data) for client in clients] == [0, 1]


def test_a_shared_name_is_one_client_of_each_server(make_service):
    services = [make_service(uniform_table("t")) for _ in range(2)]
    for i, service in enumerate(services):
        service.client.insert([np.int64(i)], {"t": 1.0})
    clients = [reverb.TFClient(services[i].address, shared_name="replay") for i in (0, 1, 0)]
    assert [int(client.sample("t", tf.int64).data) for client in clients] == [0, 1, 0]
    handles = [str(client._handle) for client in clients]
    assert handles[0] == handles[2] != handles[1]


def test_a_shared_name_is_one_client_of_each_server_in_graphs(make_service, graph):
    services = [make_service(uniform_table("t")) for _ in range(2)]
    for i, service in enumerate(services):
        service.client.insert([np.int64(i)], {"t": 1.0})
    samples = [
        reverb.TFClient(services[i].address, shared_name="replay").sample("t", tf.int64).data
        for i in (0, 1, 0)
    ]
    with tf.compat.v1.Session() as session:
        assert session.run(samples) == [0, 1, 0]


def test_the_op_refuses_a_shared_name_of_another_server(make_service):
    service, other = (make_service(uniform_table("t")) for _ in range(2))
    name = f"one client of {service.address}"
    gen_reverb_ops.reverb_client(server_address=service.address, shared_name=name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shared_name"):
        gen_reverb_ops.reverb_client(server_address=other.address, shared_name=name)


def test_server_address(service):
    client = reverb.TFClient(service.address)
    assert client.server_address == service.address
    assert service.address in repr(client)


def test_a_graph_without_the_new_attribute_still_loads(service, graph):
    """`output_shapes` came later than the op: graphs that lack it are valid."""
    service.client.insert([np.int64(3)], {"dist": 1.0})
    sample = reverb.TFClient(service.address).sample("dist", [tf.int64])
    name = sample.data[0].op.name
    definition = graph.as_graph_def()
    for node in definition.node:
        if node.op == "ReverbClientSample":
            del node.attr["output_shapes"]
    with tf.Graph().as_default() as other:
        tf.import_graph_def(definition, name="")
        with v1.Session() as session:
            assert session.run(other.get_tensor_by_name(f"{name}:5")) == 3

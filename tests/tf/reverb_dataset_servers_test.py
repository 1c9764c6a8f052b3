"""ReverbDataset of several servers: mixing, lost servers, ends of the sequence."""

import time

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import (
    Service,
    check_closed_session,
    reverb_dataset_of,
    uniform_table,
)


@pytest.fixture
def services(make_service):
    """Three servers; the items of server i are 100 * i and the following numbers."""
    services = [
        make_service(uniform_table("dist"), reverb.Table.queue("queue", 100)) for _ in "abc"
    ]
    for i, service in enumerate(services):
        service.write("dist", range(100 * i, 100 * i + 5))
        service.write("queue", range(100 * i, 100 * i + 10))
    return services


def dataset_of(services, table="dist", **options):
    return reverb_dataset_of(
        services[0], table, address=[service.address for service in services], **options
    )


def values(element):
    return np.asarray(element.data["x"])[..., 0].tolist()


def within_a_minute(iterator):
    """The elements of an endless iterator; fails when what is waited for does not come."""
    deadline = time.monotonic() + 60
    for element in iterator:
        yield element
        assert time.monotonic() < deadline, "not within a minute"


def restart(service: Service, *tables: reverb.Table) -> Service:
    """A new server where the old one was."""
    in_process = service.address.startswith("localhost")
    service.server.stop()
    return Service(tables, in_process, port=service.server.port)


def test_all_servers_take_part(services):
    dataset = dataset_of(services, batch_size=30)
    counts = np.zeros(3, int)
    # Who answers first gives more: samples come in the order in which they arrive.
    for batch in within_a_minute(iter(dataset)):
        counts += np.bincount(np.asarray(values(batch)) // 100, minlength=3)
        if (counts > 15).all():
            break


def test_elements_are_those_of_the_tables(services):
    dataset = dataset_of(services, "queue", batch_size=5, max_samples=30)
    found = sum((values(batch) for batch in dataset), [])
    assert sorted(found) == sorted(100 * i + k for i in range(3) for k in range(10))
    # Of each server in its order.
    for i in range(3):
        assert [v for v in found if v // 100 == i] == list(range(100 * i, 100 * i + 10))


def test_single_trajectories_of_several_servers(services):
    dataset = dataset_of(services, "queue", max_samples=30)
    assert len({int(e.data["x"][0]) for e in dataset}) == 30


def test_a_vector_of_addresses(services):
    dataset = reverb_dataset_of(
        services[0],
        "queue",
        address=tf.constant([service.address for service in services]),
        batch_size=10,
        max_samples=30,
    )
    assert len({v for batch in dataset for v in values(batch)}) == 30


def test_max_samples_of_several_servers(services):
    dataset = dataset_of(services, "queue", batch_size=4, max_samples=10, max_in_flight=2)
    assert [len(values(batch)) for batch in dataset] == [4, 4, 2]
    taken = sum(service.samples_taken("queue") for service in services)
    assert 10 <= taken <= 10 + 3 * 3


def test_staleness_is_shared_by_the_servers(services):
    for bound in (0, 3, 30):
        dataset = dataset_of(services, batch_size=6, max_staleness=bound)
        before = sum(service.samples_taken("dist") for service in services)
        for i, _ in zip(range(6, 36, 6), dataset, strict=False):
            taken = sum(service.samples_taken("dist") for service in services) - before
            # One of each server may be there in place of another.
            assert i <= taken <= i + max(bound, 3)


def test_what_all_have_comes_before_the_timeout(services):
    for timeout_ms in (0, 300):
        dataset = dataset_of(services, "queue", batch_size=7, rate_limiter_timeout_ms=timeout_ms)
        found = sum((values(batch) for batch in dataset), [])
        assert len(found) == (30 if timeout_ms == 0 else 0)


def test_one_server_has_nothing(services):
    services[1].client.reset("dist")
    dataset = dataset_of(services, batch_size=8)
    for _, batch in zip(range(4), dataset, strict=False):
        assert {v // 100 for v in values(batch)} <= {0, 2}


def test_unknown_table_on_one_server(services, make_service):
    other = make_service(uniform_table("other"))
    with pytest.raises(tf.errors.NotFoundError, match="Priority table dist was not found") as error:
        for _ in dataset_of([services[0], other], batch_size=4):
            pass
    assert other.address in str(error.value)


def test_other_data_on_one_server(services, make_service):
    other = make_service(uniform_table("dist", {"x": tf.TensorSpec([None], tf.float32)}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requested incompatible tensor"):
        iter(dataset_of([services[0], other], batch_size=4))


def test_a_server_that_stops_and_comes_back(services, capfd):
    dataset = dataset_of(services, batch_size=10)
    iterator = iter(dataset)
    next(iterator)
    services[1].server.stop()
    # What it gave before, then the others alone; the loss is reported.
    elements = within_a_minute(iterator)
    while any(100 <= v < 200 for v in values(next(elements))):
        pass
    report = f"Server {services[1].address} gives no samples"
    printed = capfd.readouterr().err
    while report not in printed:
        assert all(not 100 <= v < 200 for v in values(next(elements)))
        printed += capfd.readouterr().err
    assert "of the other servers 2 go on" in printed
    back = restart(services[1], uniform_table("dist"))
    back.write("dist", [150])
    elements = within_a_minute(iterator)
    while 150 not in values(next(elements)):
        pass
    assert f"Server {services[1].address} gives samples again" in capfd.readouterr().err
    back.server.stop()


def test_a_server_that_is_not_there_at_first(services, make_service):
    with reverb.Server([uniform_table("dist")]) as server:
        port = server.port
    absent = f"127.0.0.1:{port}"
    dataset = reverb_dataset_of(services[0], address=[absent, services[0].address], batch_size=10)
    iterator = iter(dataset)
    assert all(v < 100 for v in values(next(iterator)))
    with reverb.Server([uniform_table("dist")], port=port) as server:
        client = reverb.Client(f"localhost:{server.port}")
        client.insert({"x": np.int64(500)}, {"dist": 1.0})
        elements = within_a_minute(iterator)
        while 500 not in values(next(elements)):
            pass


def test_from_table_signature_asks_the_first_that_answers(make_service):
    signature = {"x": tf.TensorSpec([None], tf.int64)}
    service = make_service(uniform_table("signed", signature))
    service.write("signed", range(3))
    dataset = reverb.ReverbDataset.from_table_signature(
        ["127.0.0.1:1", service.address], "signed", 3, get_signature_timeout_secs=1
    )
    assert dataset.element_spec.data == {"x": tf.TensorSpec([3, None], tf.int64)}
    assert all(v < 3 for v in values(next(iter(dataset))))


def test_closing_while_all_are_blocked(services, graph, in_thread):
    for service in services:
        service.client.reset("queue")
    check_closed_session(dataset_of(services, "queue", batch_size=4), in_thread)


@pytest.mark.parametrize("normalization", ["batch", "table"])
def test_weights_of_several_servers(make_service, normalization):
    services = []
    for i in range(2):
        sampler = reverb.selectors.Prioritized(priority_exponent=1.0)
        services.append(make_service(uniform_table("dist", sampler=sampler)))
        for k in range(1, 4):
            services[-1].write("dist", [np.int64(100 * i + k)], priority=k * (1 + i * k))
    dataset = dataset_of(services, batch_size=64, weights=0.5, weights_normalization=normalization)
    # Until both servers have given something: of others it is not known what they have.
    seen = set()
    for batch in within_a_minute(iter(dataset)):
        seen.update(value // 100 for value in values(batch))
        if len(seen) == 2:
            break
    size_times_probability = batch.info.table_size.numpy() * batch.info.probability.numpy()
    least = size_times_probability.min()
    if normalization == "table":  # 3 items each; priorities 1, 2, 3 and 2, 6, 12
        least = 3 * min(1 / 6, 2 / 20)
    np.testing.assert_allclose(batch.weights, (size_times_probability / least) ** -0.5, rtol=1e-6)

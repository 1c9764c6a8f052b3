"""Tables and servers."""

import collections
import gc
import itertools
import socket

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors, item_selectors, rate_limiters
from tests.python_api import support

_SELECTORS = {
    "fifo": item_selectors.Fifo,
    "lifo": item_selectors.Lifo,
    "uniform": item_selectors.Uniform,
    "prioritized": lambda: item_selectors.Prioritized(priority_exponent=0.8),
    "min_heap": item_selectors.MinHeap,
    "max_heap": item_selectors.MaxHeap,
}
_LIMITERS = {
    "min_size": lambda: rate_limiters.MinSize(3),
    "ratio": lambda: rate_limiters.SampleToInsertRatio(1.5, 2, 4.0),
    "queue": lambda: rate_limiters.Queue(7),
    "stack": lambda: rate_limiters.Stack(7),
}


def make_table(**settings):
    return reverb.Table(
        **{
            "name": "t",
            "sampler": item_selectors.Uniform(),
            "remover": item_selectors.Fifo(),
            "max_size": 10,
            "rate_limiter": rate_limiters.MinSize(1),
            **settings,
        }
    )


def check_options(options, name):
    heap = name.endswith("heap")
    assert options.WhichOneof("distribution") == ("heap" if heap else name)
    if heap:
        assert options.heap.min_heap == (name == "min_heap")
    if name == "prioritized":
        assert options.prioritized.priority_exponent == 0.8
    assert options.is_deterministic == (name not in ("uniform", "prioritized"))


@pytest.mark.parametrize("limiter", _LIMITERS)
@pytest.mark.parametrize("sampler, remover", list(itertools.product(_SELECTORS, repeat=2)))
def test_info_says_what_was_given(sampler, remover, limiter):
    rate_limiter = _LIMITERS[limiter]()
    table = make_table(
        sampler=_SELECTORS[sampler](),
        remover=_SELECTORS[remover](),
        rate_limiter=rate_limiter,
        max_size=123,
        max_times_sampled=4,
    )
    info = table.info
    assert (info.name, info.max_size, info.max_times_sampled, info.signature) == ("t", 123, 4, None)
    check_options(info.sampler_options, sampler)
    check_options(info.remover_options, remover)
    for field in ("samples_per_insert", "min_size_to_sample", "min_diff", "max_diff"):
        assert getattr(info.rate_limiter_info, field) == getattr(
            rate_limiter.internal_limiter, field
        )
    assert (
        info.current_size,
        info.num_episodes,
        info.num_deleted_episodes,
        info.num_unique_samples,
    ) == (0, 0, 0, 0)


def test_selector_classes():
    assert isinstance(item_selectors.MinHeap(), item_selectors.HeapSelector)
    assert reverb.selectors is item_selectors
    assert repr(item_selectors.MinHeap()) == "HeapSelector(sign=1)"
    assert repr(item_selectors.MaxHeap()) == "HeapSelector(sign=-1)"
    assert repr(item_selectors.Prioritized(0.8)) == "PrioritizedSelector(priority_exponent=0.8)"
    with pytest.raises(TypeError):
        item_selectors.Prioritized()


@pytest.mark.parametrize(
    "signature",
    [
        reverb.TensorSpec((None, 2), np.float32, "x"),
        {"b": reverb.TensorSpec((), str), "a": [reverb.TensorSpec(None, bool)]},
        (reverb.BoundedTensorSpec((3,), np.int32, 0, [1, 2, 3], "y"), {}),
    ],
    ids=["leaf", "dict", "tuple"],
)
def test_signature(signature):
    from reverb_tf import _signature

    decoded = make_table(signature=signature).info.signature
    # Where TensorFlow is in use its specs come back; both forms encode alike.
    assert _signature.encode(decoded) == _signature.encode(signature)


def test_signature_of_named_tuples_and_other_containers():
    step = collections.namedtuple("Step", "reward observation")
    spec = reverb.TensorSpec((), np.float32)
    decoded = make_table(signature=step(spec, [spec, {"z": spec}])).info.signature
    assert (type(decoded).__name__, decoded._fields) == ("Step", ("reward", "observation"))
    decoded = make_table(signature=collections.OrderedDict(b=spec, a=spec)).info.signature
    assert list(decoded) == ["a", "b"]
    attr = pytest.importorskip("attr")
    with pytest.raises(ValueError, match="named tuples"):
        make_table(signature=attr.make_class("Step", ["reward"])(spec))


@pytest.mark.parametrize("signature", [None, {}, [], ()])
def test_no_signature(signature):
    assert make_table(signature=signature).info.signature is None


@pytest.mark.parametrize("leaf", [np.float32, 3, "x", None])
def test_signature_leaves_must_be_specs(leaf):
    with pytest.raises(ValueError, match="TensorSpec"):
        make_table(signature={"a": leaf})


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"name": ""}, ValueError),
        ({"name": None}, ValueError),
        ({"max_size": 0}, ValueError),
        ({"max_size": -1}, ValueError),
        ({"max_size": 2**31}, TypeError),
        ({"max_size": 1.5}, TypeError),
        ({"max_times_sampled": 2**31}, TypeError),
        ({"sampler": None}, TypeError),
        ({"remover": None}, TypeError),
        ({"rate_limiter": None}, TypeError),
        ({"extensions": [3]}, TypeError),
        ({"sampler": item_selectors.Prioritized(float("nan"))}, ValueError),
    ],
)
def test_table_refuses(settings, error):
    with pytest.raises(error):
        make_table(**settings)


def test_one_selector_and_limiter_may_serve_many_tables():
    selector, limiter = item_selectors.Fifo(), rate_limiters.MinSize(1)
    tables = [
        make_table(name=name, sampler=selector, remover=selector, rate_limiter=limiter)
        for name in "ab"
    ]
    with reverb.Server(tables) as server:
        client = server.localhost_client()
        client.insert([1], {"a": 1.0})
        assert (tables[0].info.current_size, tables[1].info.current_size) == (1, 0)


@pytest.mark.parametrize(
    "make, sampler", [(reverb.Table.queue, "fifo"), (reverb.Table.stack, "lifo")]
)
def test_queue_and_stack(make, sampler):
    spec = reverb.TensorSpec((), np.float32)
    info = make("q", 5, signature=spec).info
    check_options(info.sampler_options, sampler)
    check_options(info.remover_options, sampler)
    assert (info.max_size, info.max_times_sampled) == (5, 1)
    assert (info.rate_limiter_info.min_diff, info.rate_limiter_info.max_diff) == (0.0, 5.0)
    assert info.signature is not None


def test_replace():
    table = make_table(
        sampler=item_selectors.Prioritized(0.8),
        rate_limiter=rate_limiters.SampleToInsertRatio(1.5, 2, 4.0),
        max_times_sampled=3,
        signature=reverb.TensorSpec((), np.float32),
    )
    same, before = table.replace().info, table.info
    assert same == before
    changed = table.replace(
        name="u",
        sampler=item_selectors.MinHeap(),
        remover=item_selectors.Lifo(),
        max_size=20,
        rate_limiter=rate_limiters.MinSize(9),
        max_times_sampled=0,
        signature={},
    ).info
    assert (changed.name, changed.max_size, changed.max_times_sampled) == ("u", 20, 0)
    assert changed.sampler_options.heap.min_heap and changed.remover_options.lifo
    assert changed.rate_limiter_info.min_size_to_sample == 9
    assert changed.signature is None


def test_can_sample_and_can_insert():
    table = make_table(
        rate_limiter=rate_limiters.RateLimiter(1.0, 2, -5.0, 6.0), max_times_sampled=1, max_size=2
    )
    with reverb.Server([table]) as server:
        client = server.localhost_client()
        assert not table.can_sample(1)
        for i in range(2):
            client.insert([i], {"t": 1.0})
        assert table.can_sample(3)  # The limiter alone counts.
        assert table.can_sample(7) and not table.can_sample(8)
        assert table.can_insert(4) and not table.can_insert(5)
        for n in (0, -1):
            with pytest.raises(ValueError):
                table.can_sample(n)
            with pytest.raises(ValueError):
                table.can_insert(n)
        with pytest.raises(TypeError):
            table.can_sample(1.5)


def test_repr():
    table = make_table(name="my_table")
    assert "my_table" in repr(table)
    with reverb.Server([table]) as server:
        assert str(server.port) in repr(server) and "my_table" in repr(server)


def test_server_needs_tables():
    for tables in (None, []):
        with pytest.raises(ValueError, match="at least one table"):
            reverb.Server(tables)


def test_duplicate_names_are_listed():
    tables = [make_table(name=name) for name in ("a", "b", "b", "c", "a")]
    with pytest.raises(ValueError, match="a, b"):
        reverb.Server(tables)


def test_the_system_picks_a_port():
    for port in (None, 0):
        with reverb.Server([make_table()], port=port) as server:
            assert server.port > 0
            with socket.create_connection(("127.0.0.1", server.port), timeout=support.PATIENCE):
                pass


def test_a_port_in_use_is_refused_by_name():
    with reverb.Server([make_table()]) as server:
        with pytest.raises(ValueError, match=str(server.port)) as e:
            reverb.Server([make_table()], port=server.port)
        assert isinstance(e.value, errors.UnavailableError)


_HOSTS = ["127.0.0.1", "[::1]", "[::]", "0.0.0.0"]


def _has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("second", _HOSTS)
@pytest.mark.parametrize("first", _HOSTS)
def test_a_port_in_use_on_any_address_that_both_would_have(first, second):
    if "[::1]" in (first, second) and not _has_ipv6():
        pytest.skip("there is no IPv6")
    families = {"127.0.0.1": {4}, "0.0.0.0": {4}, "[::1]": {6}, "[::]": {4, 6}}
    with reverb.Server([make_table()], host=first) as server:
        if families[first] & families[second]:
            with pytest.raises(errors.BindError, match=str(server.port)):
                reverb.Server([make_table()], port=server.port, host=second)
        server.localhost_client().insert([1], {"t": 1.0})


@pytest.mark.parametrize("host", ["127.0.0.1", "[::]"])
def test_a_port_in_use_by_another_process(host):
    other = support.RemoteServer('[reverb.Table.queue("q", 1)]')
    try:
        with pytest.raises(errors.BindError, match=str(other.port)):
            reverb.Server([make_table()], port=other.port, host=host)
        assert reverb.Client(other.address).server_info(support.PATIENCE)["q"].max_size == 1
    finally:
        other.stop()
    with pytest.raises(errors.BindError, match="nowhere.invalid"):
        reverb.Server([make_table()], host="nowhere.invalid")


@pytest.mark.parametrize(
    "arguments", [{"port": "x"}, {"port": 1.5}, {"host": 3}, {"tables": ["t"]}]
)
def test_arguments_of_another_type(arguments):
    with pytest.raises(TypeError, match=next(iter(arguments))):
        reverb.Server(**{"tables": [make_table()], **arguments})


@pytest.mark.parametrize("port", [-1, 2**16])
def test_bad_ports(port):
    with pytest.raises(ValueError):
        reverb.Server([make_table()], port=port)


def test_a_port_can_be_used_again_after_stop():
    server = reverb.Server([make_table()])
    server.stop()
    server.stop()
    for _ in range(5):
        with reverb.Server([make_table()], port=server.port) as again:
            again.localhost_client().insert([1], {"t": 1.0})


def test_stop_ends_waiting_calls(serve):
    server = serve('[reverb.Table.queue("q", 1)]')
    client = reverb.Client(server.address)
    sampling = support.Call(lambda: next(client.sample("q", timeout=5)))
    server.stop()
    with pytest.raises(errors.ReverbError):
        sampling.result()


def test_stop_cancels_waiting_local_calls():
    table = reverb.Table.queue("q", 1)
    server = reverb.Server([table])
    client = server.localhost_client()
    client.insert([0], {"q": 1.0})
    inserting = support.Call(lambda: client.insert([1], {"q": 1.0}))
    waiting = support.Call(server.wait)
    server.stop()
    with pytest.raises(errors.ReverbError):
        inserting.result()
    assert waiting.result() is None
    server.wait()


def test_wait_takes_a_timeout():
    with reverb.Server([make_table()]) as server:
        with pytest.raises(errors.DeadlineExceededError):
            server.wait(timeout=0.01)
        server.localhost_client().insert([1], {"t": 1.0})


def test_a_server_that_is_dropped_says_so(caplog):
    server = reverb.Server([make_table()])
    port = server.port
    del server
    gc.collect()
    assert str(port) in caplog.text
    with pytest.raises(errors.ReverbError):
        reverb.Client(f"localhost:{port}").server_info(timeout=0.2)

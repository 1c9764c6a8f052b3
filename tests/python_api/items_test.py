"""Looking items up, listing and deleting them; what is known about tables (the "opacity" and "limiter" rows)."""

import math
import sys
from concurrent import futures

import grpc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reverb_tf as reverb
from reverb_tf import errors, reverb_types
from tests.python_api import support

_TABLES = """[
    reverb.Table("t", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1)),
    reverb.Table("signed", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 10, reverb.rate_limiters.MinSize(1),
                 signature={"a": reverb.TensorSpec((None, 2), np.float32)}),
    reverb.Table.queue("q", 1),
]"""


@pytest.fixture(name="client", scope="module", params=["local", "grpc"])
def _client(request):
    cls = support.LocalServer if request.param == "local" else support.RemoteServer
    server = cls(_TABLES)
    yield reverb.Client(server.address)
    server.stop()


@pytest.fixture(autouse=True)
def _empty(client):
    for table in ("t", "signed", "q"):
        client.reset(table)


def _value(sample: reverb.ReplaySample) -> int:
    return int(sample.data[0][0])


def test_get_gives_whole_items_in_the_order_of_the_keys(client):
    with client.trajectory_writer(3) as writer:
        for i in range(3):
            writer.append({"x": np.full(2, i, np.int16), "y": i})
        history = writer.history
        first = writer.create_item("t", 2.5, {"x": history["x"][:], "y": history["y"][-1]})
    (second,) = client.insert([7], {"t": 1.0})
    items = client.get("t", [second, first])
    assert [type(item) for item in items] == [reverb.ReplaySample] * 2
    assert _value(items[0]) == 7
    x, y = items[1].data
    np.testing.assert_array_equal(x, np.int16([[0, 0], [1, 1], [2, 2]]))
    assert x.dtype == np.int16
    assert y.shape == () and y == 2
    assert items[1].info == reverb.SampleInfo(first, 0.0, 2, 2.5, 0)
    assert client.get("t", []) == []


def test_get_does_not_count_as_sampling(client):
    (key,) = client.insert([1], {"q": 1.0})
    for _ in range(3):
        assert _value(client.get("q", [key])[0]) == 1
    info = client.server_info(10)["q"]
    assert (info.current_size, info.rate_limiter_info.sample_stats.completed) == (1, 0)
    assert info.num_unique_samples == 0


def test_get_of_missing_keys(client):
    (key,) = client.insert([1], {"t": 1.0})
    absent = [key ^ 1, key ^ 2]
    with pytest.raises(KeyError) as e:
        client.get("t", [absent[0], key, absent[1]])
    for part in ("table t", "2 of 3", str(absent[0]), str(absent[1])):
        assert part in str(e.value).lower()
    with pytest.raises(KeyError, match="11 of 11"):
        client.get("t", [key ^ i for i in range(1, 12)])
    (item,) = client.get("t", [absent[0], key, absent[1]], missing="skip")
    assert item.info.key == key
    with pytest.raises(ValueError, match="missing"):
        client.get("t", [key], missing="none")


def test_get_unpacks_as_the_signature(client):
    (key,) = client.insert({"a": np.float32([1, 2])}, {"signed": 1.0})
    (item,) = client.get("signed", [key], unpack_as_table_signature=True)
    np.testing.assert_array_equal(item.data["a"], np.float32([[1, 2]]))
    with pytest.raises(ValueError, match="does not contain any table named nowhere"):
        client.get("nowhere", [key], unpack_as_table_signature=True)


def test_keys_may_be_numpy_and_repeated(client):
    keys = np.array([client.insert([i], {"t": 1.0})[0] for i in range(4)], np.uint64)
    assert [_value(item) for item in client.get("t", keys)] == [0, 1, 2, 3]
    assert [_value(item) for item in client.get("t", (keys[2], keys[2]))] == [2, 2]
    assert client.delete("t", iter(keys[:3])) == 3
    with pytest.raises(KeyError):
        client.get("t", keys)


@pytest.mark.parametrize("key", [-1, 2**64, "x", 1.5, None])
def test_bad_keys_are_refused(client, key):
    for call in (client.get, client.delete):
        with pytest.raises(TypeError, match="key"):
            call("t", [key])


def test_list_items(client):
    keys = [client.insert([np.zeros(i)], {"t": float(i)})[0] for i in range(5)]
    next(client.sample("t"))
    items = {item.key: item for item in client.list_items("t", page_size=2)}
    assert set(items) == set(keys)
    assert all(isinstance(item, reverb_types.ItemInfo) for item in items.values())
    assert [items[key].priority for key in keys] == [0, 1, 2, 3, 4]
    assert sum(item.times_sampled for item in items.values()) == 1
    assert all(item.age >= 0 and item.bytes > 0 for item in items.values())
    assert list(client.list_items("q")) == []


@pytest.mark.parametrize("page_size", [0, -1, 10001])
def test_list_items_refuses_page_sizes_at_the_call(client, page_size):
    with pytest.raises(ValueError, match=f"page_size.*{page_size}"):
        client.list_items("t", page_size=page_size)
    with pytest.raises(TypeError):
        client.list_items("t", page_size=1.5)


def test_items_that_stay_are_listed_once_while_others_come_and_go(client):
    stay = [client.insert([i], {"t": 1.0})[0] for i in range(20)]
    guests = [client.insert([i], {"t": 1.0})[0] for i in range(20)]
    seen = []
    for item in client.list_items("t", page_size=1):
        seen.append(item.key)
        if guests:
            client.delete("t", [guests.pop()])
            client.insert([0], {"t": 1.0})
    assert [seen.count(key) for key in stay] == [1] * 20


def test_unknown_tables(client):
    for call in (
        lambda: client.get("nowhere", [1]),
        lambda: next(client.list_items("nowhere")),
        lambda: client.delete("nowhere", [1]),
        lambda: client.set_rate_limiter("nowhere", reverb.rate_limiters.MinSize(1)),
    ):
        with pytest.raises(errors.NotFoundError, match="Priority table nowhere was not found"):
            call()


_OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.floats(0, 100)),
        st.tuples(st.just("update"), st.integers(0, 30), st.floats(0, 100)),
        st.tuples(st.just("delete"), st.lists(st.integers(0, 30), unique=True)),
        st.tuples(st.just("get"), st.lists(st.integers(0, 30))),
        st.tuples(st.just("list"), st.integers(1, 10)),
    ),
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(operations=_OPERATIONS)
def test_agrees_with_a_dict(client, operations):
    client.reset("t")
    keys: list[int] = []  # by value, also of deleted items
    model: dict[int, float] = {}  # priority by value

    def key(value: int) -> int:
        return keys[value] if value < len(keys) else 2**64 - 1 - value

    for name, *arguments in operations:
        if name == "insert":
            model[len(keys)] = arguments[0]
            keys += client.insert([len(keys)], {"t": arguments[0]})
        elif name == "update":
            value, priority = arguments
            client.mutate_priorities("t", {key(value): priority})
            model.update({value: priority} if value in model else {})
        elif name == "delete":
            deleted = client.delete("t", [key(value) for value in arguments[0]])
            assert deleted == sum(model.pop(value, None) is not None for value in arguments[0])
        elif name == "get":
            items = client.get("t", [key(value) for value in arguments[0]], missing="skip")
            assert [(_value(item), item.info.priority) for item in items] == [
                (value, model[value]) for value in arguments[0] if value in model
            ]
        else:
            listed = [(i.key, i.priority) for i in client.list_items("t", page_size=arguments[0])]
            assert sorted(listed) == sorted((key(value), p) for value, p in model.items())
    info = client.server_info(60)["t"]
    assert info.current_size == len(model)
    assert info.priority_min == min(model.values(), default=None)
    assert info.priority_max == max(model.values(), default=None)
    if model:
        assert math.isclose(info.priority_sum, sum(model.values()), abs_tol=1e-9)


def test_server_info_says_what_a_table_holds_and_how_far_it_may_go(client):
    info = client.server_info(60)["q"]
    assert (info.priority_min, info.priority_max, info.priority_sum) == (None, None, None)
    assert (info.samples_allowed, info.inserts_allowed, info.data_bytes) == (0, 1, 0)
    client.insert([1], {"q": 3.0})
    client.insert([1], {"t": 3.0})
    client.insert([1], {"t": -1.0})
    infos = client.server_info(60)
    assert (infos["q"].samples_allowed, infos["q"].inserts_allowed) == (1, 0)
    assert infos["q"].insert_state.startswith("Inserting waits for samples")
    assert infos["q"].sample_state.startswith("May sample 1 item")
    assert (infos["q"].waiting_samples, infos["q"].waiting_inserts) == (0, 0)
    info = infos["t"]
    assert (info.priority_min, info.priority_max, info.priority_sum) == (-1.0, 3.0, 2.0)
    assert (info.samples_allowed, info.inserts_allowed) == (sys.maxsize, sys.maxsize)
    assert info.data_bytes > 0 and info.memory_bytes > 0


def test_blocked_insert_goes_on_after_a_change_of_the_limiter(client):
    client.insert([1], {"q": 1.0})
    blocked = support.Call(lambda: client.insert([2], {"q": 1.0}))
    limiter = client.server_info(60)["q"].rate_limiter_info
    assert limiter.max_diff == 1
    client.set_rate_limiter("q", reverb.rate_limiters.Queue(2))
    blocked.result()
    info = client.server_info(60)["q"]
    assert info.rate_limiter_info.max_diff == 2
    assert info.rate_limiter_info.insert_stats.completed == 2  # what was counted stays
    client.set_rate_limiter("q", reverb.rate_limiters.Queue(1))
    with pytest.raises(TypeError, match="rate_limiter"):
        client.set_rate_limiter("q", 1.0)


def test_the_limiter_of_a_table_object_can_be_changed():
    table = reverb.Table.queue("q", 1)
    with reverb.Server([table], host="127.0.0.1") as server:
        client = server.localhost_client()
        client.insert([1], {"q": 1.0})
        blocked = support.Call(lambda: client.insert([2], {"q": 1.0}))
        table.set_rate_limiter(reverb.rate_limiters.Queue(5))
        blocked.result()
        assert table.info.inserts_allowed == 3
        assert "max_diff=5" in repr(table)
        with pytest.raises(TypeError, match="rate_limiter"):
            table.set_rate_limiter(None)
    with pytest.raises(errors.CancelledError):
        table.set_rate_limiter(reverb.rate_limiters.Queue(6))


def test_a_server_without_the_calls_is_named():
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = reverb.Client(f"127.0.0.1:{port}")
    for name, call in {
        "GetItems": lambda: client.get("t", [1]),
        "ListItems": lambda: next(client.list_items("t")),
        "DeleteItems": lambda: client.delete("t", [1]),
        "SetRateLimiter": lambda: client.set_rate_limiter("t", reverb.rate_limiters.MinSize(1)),
    }.items():
        with pytest.raises(NotImplementedError) as e:
            call()
        assert isinstance(e.value, errors.UnimplementedError)
        for part in (f"127.0.0.1:{port}", name, "older", "dm-reverb"):
            assert part in str(e.value)
    server.stop(None)

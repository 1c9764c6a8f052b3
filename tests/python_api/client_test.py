"""Client against servers of this process and over gRPC."""

import pickle
import threading

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support

_UNIFORM = """[reverb.Table("t", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 1000,
                           reverb.rate_limiters.MinSize(1))]"""
_PRIORITIZED = """[reverb.Table("t", reverb.selectors.Prioritized(1.0), reverb.selectors.Fifo(), 1000,
                               reverb.rate_limiters.MinSize(1))]"""
_FIFO = """[reverb.Table("t", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 1000,
                        reverb.rate_limiters.MinSize(1))]"""
_QUEUE = '[reverb.Table.queue("q", 3)]'
_SIGNED = """[
    reverb.Table("t", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 10, reverb.rate_limiters.MinSize(1),
                 signature={"a": reverb.TensorSpec((None, 3), np.float32),
                            "b": (reverb.TensorSpec((None,), np.int64, "count"),)}),
    reverb.Table("free", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 10, reverb.rate_limiters.MinSize(1)),
]"""


def test_insert_then_sample_as_timesteps(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    data = np.arange(6, dtype=np.int16).reshape(2, 3)
    (key,) = client.insert(data, {"t": 2.0})
    (sample,) = client.sample("t")
    (step,) = sample
    assert isinstance(step, reverb.ReplaySample)
    assert isinstance(step.data, list)
    np.testing.assert_array_equal(step.data[0], data)
    assert step.data[0].dtype == np.int16
    assert step.info == reverb.SampleInfo(key, 1.0, 1, 2.0, 1)
    assert [type(x) for x in step.info] == [int, float, int, float, int]


def test_insert_then_sample_as_trajectory_has_a_leading_axis(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    client.insert([np.float32(1.5), "text"], {"t": 1.0})
    (sample,) = client.sample("t", emit_timesteps=False)
    assert isinstance(sample, reverb.ReplaySample)
    np.testing.assert_array_equal(sample.data[0], np.array([1.5], np.float32))
    assert sample.data[1].dtype == object
    assert sample.data[1].tolist() == [b"text"]


def test_scalars_come_back_as_arrays_of_rank_zero(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    client.insert([1, 2.0, True, b"x"], {"t": 1.0})
    ((step,),) = client.sample("t")
    assert all(isinstance(x, np.ndarray) and x.shape == () for x in step.data)
    assert [x.dtype for x in step.data] == [np.int64, np.float64, np.bool_, np.object_]
    assert [x.item() for x in step.data] == [1, 2.0, True, b"x"]


def test_nests_are_flattened_by_sorted_key(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    client.insert({"z": 1, "a": (2, [3]), "m": {"y": 4, "x": 5}}, {"t": 1.0})
    ((step,),) = client.sample("t")
    assert [int(x) for x in step.data] == [2, 3, 5, 4, 1]


def test_unpack_as_table_signature(serve):
    client = reverb.Client(serve(_SIGNED).address)
    data = {"a": np.ones(3, np.float32), "b": (np.int64(7),)}
    client.insert(data, {"t": 1.0, "free": 1.0})
    (sample,) = client.sample("t", unpack_as_table_signature=True, emit_timesteps=False)
    assert set(sample.data) == {"a", "b"}
    np.testing.assert_array_equal(sample.data["a"], np.ones((1, 3), np.float32))
    np.testing.assert_array_equal(sample.data["b"][0], [7])
    ((step,),) = client.sample("t", unpack_as_table_signature=True)
    np.testing.assert_array_equal(step.data["a"], np.ones(3, np.float32))
    ((step,),) = client.sample("free", unpack_as_table_signature=True)
    assert isinstance(step.data, list)
    with pytest.raises(
        ValueError, match="does not contain any table named nowhere. Found: free, t"
    ):
        next(client.sample("nowhere", unpack_as_table_signature=True))


def test_insert_checks_the_signature(serve):
    client = reverb.Client(serve(_SIGNED).address)
    with pytest.raises(ValueError):
        client.insert({"a": np.ones(4, np.float32), "b": (np.int64(7),)}, {"t": 1.0})
    with pytest.raises(ValueError):
        client.insert({"a": np.ones(3, np.float64), "b": (np.int64(7),)}, {"t": 1.0})
    with pytest.raises(ValueError):
        client.insert([np.ones(3, np.float32)], {"t": 1.0})
    assert client.server_info(10)["t"].current_size == 0


def test_insert_into_several_tables_returns_their_keys(serve):
    client = reverb.Client(serve(_SIGNED).address)
    data = {"a": np.ones(3, np.float32), "b": (np.int64(7),)}
    keys = client.insert(data, {"free": 3.0, "t": 4.0})
    ((free,),) = client.sample("free")
    ((signed,),) = client.sample("t")
    assert keys == [free.info.key, signed.info.key]
    assert (free.info.priority, signed.info.priority) == (3.0, 4.0)


@pytest.mark.parametrize(
    "priorities, error",
    [
        ({}, ValueError),
        ({"nowhere": 1.0}, ValueError),
        ({"t": float("nan")}, ValueError),
        ({"t": -1.0}, ValueError),
        ({"t": "high"}, TypeError),
        ({3: 1.0}, TypeError),
    ],
)
def test_insert_refuses_bad_targets(serve, priorities, error):
    client = reverb.Client(serve(_PRIORITIZED).address)
    with pytest.raises(error):
        client.insert([1], priorities)
    client.insert([1], {"t": 1.0})  # Nobody else notices.
    assert client.server_info(10)["t"].current_size == 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        object(),
        np.datetime64("2026-01-01"),
        np.longdouble(1),
        np.zeros(2, [("a", int)]),
        np.array([1, "x", None], object),
        np.ma.array([1, 2], mask=[True, False]),
        2**70,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_cannot_be_stored_are_refused_with_what_can(value):
    client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
    with pytest.raises(TypeError) as e:
        client.insert([value], {"t": 1.0})
    assert "float32" in str(e.value) or "bytes or str" in str(e.value) or "masked" in str(e.value)


def test_priorities_decide_how_often_items_are_sampled(serve):
    client = reverb.Client(serve(_PRIORITIZED).address)
    for value, priority in ((0, 1.0), (1, 0.1), (2, 0.0)):
        client.insert([value], {"t": priority})
    values = [int(step.data[0]) for (step,) in client.sample("t", num_samples=4000)]
    counts = np.bincount(values, minlength=3)
    assert counts[2] == 0
    assert abs(counts[0] / 4000 - 1 / 1.1) < 0.05  # ten standard deviations


def test_update_and_delete(serve):
    client = reverb.Client(serve(_PRIORITIZED).address)
    keys = [client.insert([i], {"t": 1.0})[0] for i in range(3)]
    client.mutate_priorities("t", updates={keys[0]: 3.0, 12345: 1.0}, deletes=[keys[1], 54321])
    infos = {int(s.data[0]): s.info for (s,) in client.sample("t", num_samples=200)}
    assert set(infos) == {0, 2}
    assert infos[0].probability == 0.75
    assert infos[0].priority == 3.0
    assert infos[0].table_size == 2


def test_mutate_priorities_takes_numpy(serve):
    client = reverb.Client(serve(_PRIORITIZED).address)
    keys = np.array([client.insert([i], {"t": 1.0})[0] for i in range(4)], np.uint64)
    client.mutate_priorities("t", updates=dict(zip(keys[:2], np.float32([2.0, 3.0]), strict=True)))
    client.mutate_priorities("t", deletes=keys[2:])
    infos = {int(s.data[0]): s.info.priority for (s,) in client.sample("t", num_samples=100)}
    assert infos == {0: 2.0, 1: 3.0}


def test_mutate_priorities_refuses_bad_arguments(serve):
    client = reverb.Client(serve(_PRIORITIZED).address)
    (key,) = client.insert([1], {"t": 1.0})
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            client.mutate_priorities("t", updates={key: bad})
    for bad_key in (-1, 2**64, "x", 1.5):
        with pytest.raises(TypeError):
            client.mutate_priorities("t", updates={bad_key: 1.0})
        with pytest.raises(TypeError):
            client.mutate_priorities("t", deletes=[bad_key])
    with pytest.raises(TypeError):
        client.mutate_priorities("t", updates={key: "x"})
    with pytest.raises(RuntimeError, match="Priority table nowhere was not found") as e:
        client.mutate_priorities("nowhere", updates={key: 1.0})
    assert isinstance(e.value, errors.NotFoundError)
    ((step,),) = client.sample("t")
    assert step.info.priority == 1.0


def test_reset(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    client.insert([1], {"t": 1.0})
    client.reset("t")
    info = client.server_info(10)["t"]
    assert (info.current_size, info.rate_limiter_info.insert_stats.completed) == (0, 0)
    with pytest.raises(RuntimeError, match="nowhere"):
        client.reset("nowhere")


def test_server_info(serve):
    client = reverb.Client(serve(_SIGNED).address)
    infos = client.server_info()
    assert set(infos) == {"t", "free"}
    info = infos["t"]
    assert (info.name, info.max_size, info.max_times_sampled, info.current_size) == ("t", 10, 0, 0)
    assert info.sampler_options.fifo and info.remover_options.fifo
    assert info.rate_limiter_info.min_size_to_sample == 1
    assert infos["free"].signature is None
    assert info.signature["a"].dtype == np.float32
    assert list(info.signature["b"][0].shape) == [None]
    assert info.signature["b"][0].name == "count"


def test_sample_of_an_unknown_table(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    with pytest.raises(RuntimeError, match="nowhere"):
        next(client.sample("nowhere"))


@pytest.mark.parametrize("num_samples", [0, -2])
def test_sample_refuses_bad_counts_when_asked(num_samples):
    samples = reverb.Client(f"127.0.0.1:{support.dead_port()}").sample("t", num_samples)
    with pytest.raises(ValueError, match="num_samples"):
        next(samples)


def test_sample_minus_one_yields_nothing():
    assert list(reverb.Client(f"127.0.0.1:{support.dead_port()}").sample("t", -1)) == []


def test_queue_is_sampled_in_order_and_once(serve):
    client = reverb.Client(serve(_QUEUE).address)
    for i in range(3):
        client.insert([i], {"q": 1.0})
    assert [int(step.data[0]) for (step,) in client.sample("q", num_samples=3)] == [0, 1, 2]
    assert client.server_info(10)["q"].current_size == 0


def test_items_of_one_queue_may_differ_in_dtype_and_shape(serve):
    client = reverb.Client(serve(_QUEUE).address)
    for data in ([1], [2.5, np.zeros((2, 1), bool)], ["text"]):
        client.insert(data, {"q": 1.0})
    first, second, third = (step.data for (step,) in client.sample("q", num_samples=3))
    assert [x.dtype for x in first + second + third] == [np.int64, np.float64, np.bool_, np.object_]
    assert (first[0].item(), second[0].item(), third[0].item()) == (1, 2.5, b"text")


def test_dropping_a_generator_loses_no_more_than_the_prefetch(serve):
    client = reverb.Client(serve(_QUEUE).address)
    for i in range(3):
        client.insert([i], {"q": 1.0})
    samples = client.sample("q", num_samples=3, max_in_flight_samples=1)
    next(samples)
    samples.close()
    info = client.server_info(10)["q"]
    assert info.rate_limiter_info.sample_stats.completed <= 2


def test_exactly_as_many_items_are_taken_as_asked_for(serve):
    client = reverb.Client(serve(_FIFO).address)
    client.insert([1], {"t": 1.0})
    assert len(list(client.sample("t", num_samples=37))) == 37
    assert client.server_info(10)["t"].rate_limiter_info.sample_stats.completed == 37


def test_timeouts(serve):
    client = reverb.Client(
        serve('[reverb.Table.queue("q", 3), reverb.Table.queue("empty", 3)]').address
    )
    with pytest.raises(errors.DeadlineExceededError) as e:
        next(client.sample("empty", timeout=0.05))
    assert isinstance(e.value, TimeoutError)
    for i in range(3):
        client.insert([i], {"q": 1.0}, timeout=support.PATIENCE)
    with pytest.raises(errors.DeadlineExceededError):
        client.insert([3], {"q": 1.0}, timeout=0.05)


@pytest.mark.parametrize("timeout", [None, 0, -1, 1000, 1000.0])
def test_server_info_has_no_limit_unless_it_is_above_zero(serve, timeout):
    assert set(reverb.Client(serve(_QUEUE).address).server_info(timeout)) == {"q"}


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda client: next(client.sample(3)), "table"),
        (lambda client: next(client.sample("q", 1.5)), "num_samples"),
        (lambda client: next(client.sample("q", max_in_flight_samples="x")), "max_in_flight"),
        (lambda client: client.insert(1, ["q"]), "priorities"),
        (lambda client: client.insert(1, {3: 1.0}), "name"),
        (lambda client: client.insert(1, {"q": "x"}), "priority"),
        (lambda client: client.mutate_priorities("q", [1]), "updates"),
        (lambda client: client.reset(3), "table"),
        (lambda client: client.server_info("x"), "timeout"),
        (lambda client: client.checkpoint(timeout="x"), "timeout"),
        (lambda client: client.trajectory_writer("x"), "num_keep_alive_refs"),
    ],
)
def test_arguments_of_another_type(call, name):
    with pytest.raises(TypeError) as e:
        call(reverb.Client(f"127.0.0.1:{support.dead_port()}"))
    assert name in str(e.value) and "incompatible function arguments" not in str(e.value)


@pytest.mark.parametrize("timeout", [-1, float("nan"), "soon"])
def test_bad_timeouts(timeout):
    client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
    with pytest.raises((ValueError, TypeError), match="timeout"):
        client.insert([1], {"t": 1.0}, timeout=timeout)


def test_unreachable_server():
    client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
    with pytest.raises(errors.DeadlineExceededError):
        client.server_info(timeout=1)
    with pytest.raises(errors.DeadlineExceededError):
        client.insert([1], {"t": 1.0}, timeout=0.1)
    with pytest.raises(errors.DeadlineExceededError):
        next(client.sample("t", timeout=0.1))
    with pytest.raises(errors.DeadlineExceededError):
        client.mutate_priorities("t", deletes=[1], timeout=0.1)
    with pytest.raises(errors.DeadlineExceededError):
        client.reset("t", timeout=0.1)
    with pytest.raises(errors.DeadlineExceededError):
        client.trajectory_writer(1, timeout=0.1)


def test_creating_a_client_never_fails():
    for address in ("nonsense", "", "localhost:1", "[::1]:2", "http://x y"):
        assert reverb.Client(address).server_address == address
    with pytest.raises(TypeError):
        reverb.Client(8000)


def test_repr_and_pickle(serve):
    address = serve(_UNIFORM).address
    client = pickle.loads(pickle.dumps(reverb.Client(address)))
    assert client.server_address == client._server_address == address
    assert repr(client) == f"Client, server_address={address}"
    client.insert([1], {"t": 1.0})


def test_one_client_in_many_threads(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    calls = [
        support.Call(lambda i=i: [client.insert([i], {"t": 1.0}) for _ in range(10)])
        for i in range(32)
    ]
    keys = [key for call in calls for (key,) in call.result()]
    assert len(set(keys)) == 320
    assert client.server_info(10)["t"].current_size == 320


def test_a_waiting_sample_gets_what_is_inserted_later(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    started = threading.Event()

    def wait():
        samples = client.sample("t")
        started.set()
        return next(samples)

    call = support.Call(wait)
    started.wait(support.PATIENCE)
    client.insert([5], {"t": 1.0})
    assert int(call.result()[0].data[0]) == 5


def test_columns_of_different_length_need_emit_timesteps_false(serve):
    client = reverb.Client(serve(_UNIFORM).address)
    with client.trajectory_writer(3) as writer:
        for i in range(3):
            writer.append({"a": i, "b": i})
        history = writer.history
        writer.create_item("t", 1.0, {"a": history["a"][:], "b": history["b"][-1:]})
    (sample,) = client.sample("t", emit_timesteps=False)
    assert [len(x) for x in sample.data] == [3, 1]
    with pytest.raises(ValueError, match="emit_timesteps=False"):
        next(client.sample("t"))

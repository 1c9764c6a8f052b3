"""The names of the native layer."""

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors, item_selectors, pybind, rate_limiters
from reverb_tf.cc import schema_pb2


def make_table(**settings):
    return pybind.Table(
        **{
            "name": "t",
            "sampler": pybind.UniformSelector(),
            "remover": pybind.FifoSelector(),
            "max_size": 10,
            "max_times_sampled": 0,
            "rate_limiter": pybind.RateLimiter(1.0, 1, -1e9, 1e9),
            "extensions": [],
            "signature": None,
            **settings,
        }
    )


def test_the_classes_are_those_of_the_package():
    table = reverb.Table.queue("q", 1)
    assert type(table.internal_table) is pybind.Table
    assert type(reverb.rate_limiters.MinSize(1).internal_limiter) is pybind.RateLimiter
    assert type(reverb.Client("localhost:1")._client) is pybind.Client
    assert isinstance(reverb.selectors.MaxHeap(), pybind.HeapSelector)
    assert issubclass(pybind.HeapSelector, pybind.ItemSelector)
    assert pybind.Sampler.NUM_INFO_TENSORS == len(reverb.SampleInfo._fields) == 5


def test_reprs():
    assert repr(pybind.FifoSelector()) == "FifoSelector"
    assert repr(pybind.LifoSelector()) == "LifoSelector"
    assert repr(pybind.UniformSelector()) == "UniformSelector"
    assert repr(pybind.HeapSelector(True)) == repr(item_selectors.MinHeap())
    assert repr(pybind.HeapSelector(min_heap=False)) == "HeapSelector(sign=-1)"
    assert (
        repr(pybind.PrioritizedSelector(priority_exponent=0.8))
        == "PrioritizedSelector(priority_exponent=0.8)"
    )


def test_selector_from_proto():
    options = schema_pb2.KeyDistributionOptions()
    options.prioritized.priority_exponent = 0.25
    selector = pybind.selector_from_proto(options.SerializeToString())
    assert repr(selector) == "PrioritizedSelector(priority_exponent=0.25)"
    for bad in (
        b"",
        b"\xff\xff",
        schema_pb2.KeyDistributionOptions(fifo=False).SerializeToString(),
    ):
        with pytest.raises(ValueError):
            pybind.selector_from_proto(bad)


def test_rate_limiter_refuses_what_ends_the_process_of_the_reference():
    for numbers in ((0.0, 1, 0.0, 1.0), (1.0, 0, 0.0, 1.0), (float("nan"), 1, 0.0, 1.0)):
        with pytest.raises(ValueError):
            pybind.RateLimiter(*numbers)
    limiter = pybind.RateLimiter(
        samples_per_insert=1.5, min_size_to_sample=2, min_diff=-3.0, max_diff=4.0
    )
    assert "1.5" in repr(limiter)


def test_chunker_options_are_compared_as_in_the_reference():
    constant, tuned = pybind.ConstantChunkerOptions, pybind.AutoTunedChunkerOptions
    assert constant(max_chunk_length=1, num_keep_alive_refs=2) == constant(1, 2)
    assert constant(1, 2) != constant(2, 2) and constant(1, 2) != constant(1, 3)
    assert tuned(num_keep_alive_refs=2, throughput_weight=1.0) == tuned(2, 5.0)
    assert tuned(2, 1.0) != tuned(3, 1.0)
    assert constant(1, 2) != tuned(2, 1.0)
    assert issubclass(constant, pybind.ChunkerOptions)
    assert issubclass(tuned, pybind.ChunkerOptions)


def test_table_and_server_and_client():
    table = make_table()
    assert table.name() == "t"
    assert schema_pb2.TableInfo.FromString(table.info()).max_size == 10
    assert table.can_insert(1) and not table.can_sample(1)
    server = pybind.Server(priority_tables=[table], port=0)
    client = pybind.Client(server_name=f"localhost:{server.port}")
    (key,) = reverb.Client(f"localhost:{server.port}").insert([np.int8(3)], {"t": 1.0})
    (info,) = client.ServerInfo(0)
    assert [info] == client.ServerInfo(-1) == client.ServerInfo(60) == [table.info()]
    client.MutatePriorities("t", [(key, 5.0)], [])
    sampler = client.NewSampler(table="t", max_samples=1, buffer_size=1)
    columns = sampler.GetNextTrajectory()
    assert [c.dtype for c in columns[:5]] == [np.uint64, np.float64, np.int64, np.float64, np.int32]
    assert (columns[0], columns[3], columns[5].tolist()) == (key, 5.0, [3])
    with pytest.raises(RuntimeError):
        sampler.GetNextTrajectory()
    with pytest.raises(ValueError, match="no checkpointer"):
        client.Checkpoint()
    client.Reset("t")
    server.Stop()
    assert server.Wait() is False


@pytest.mark.parametrize("timeout", ["soon", [1]])
def test_server_info_refuses_bad_timeouts(timeout):
    with pytest.raises(TypeError, match="timeout"):
        pybind.Client("localhost:1").ServerInfo(timeout)


@pytest.mark.parametrize("n", [0, -1])
def test_counts_that_end_the_process_of_the_reference(n):
    with pytest.raises(ValueError):
        make_table().can_sample(n)
    with pytest.raises(ValueError):
        make_table().can_insert(n)


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"name": ""}, ValueError),
        ({"name": 3}, TypeError),
        ({"max_size": 0}, ValueError),
        ({"max_size": 1.5}, TypeError),
        ({"max_size": 2**31}, TypeError),
        ({"max_times_sampled": "x"}, TypeError),
        ({"sampler": None}, TypeError),
        ({"remover": "fifo"}, TypeError),
        ({"rate_limiter": None}, TypeError),
        ({"extensions": [object()]}, TypeError),
        ({"signature": "x"}, TypeError),
        ({"seed": -1}, TypeError),
        ({"seed": 2**64}, TypeError),
    ],
)
def test_table_refuses_in_plain_words(settings, error):
    with pytest.raises(error) as e:
        make_table(**settings)
    assert next(iter(settings)).partition("_")[0] in str(e.value)
    assert "incompatible function arguments" not in str(e.value)


def test_extensions_cannot_be_made():
    with pytest.raises(TypeError):
        pybind.TableExtension()


def test_server_refuses_in_plain_words():
    for arguments, error in (
        (([3], 0), TypeError),
        (([], 0), ValueError),
        (([make_table()], "x"), TypeError),
    ):
        with pytest.raises(error) as e:
            pybind.Server(*arguments)
        assert "incompatible function arguments" not in str(e.value)
    with pytest.raises(errors.ReverbError):
        pybind.Server([make_table()], -1)


def test_a_reference_that_has_expired():
    with reverb.Server([reverb.Table.queue("q", 1)]) as server:
        writer = server.localhost_client().trajectory_writer(1)
        writer.append([1.5])
        (reference,) = list(writer.history[0][:])
        assert isinstance(reference, pybind.WeakCellRef)
        assert (reference.expired, reference.shape, reference.dtype) == (False, (), np.float64)
        assert reference.numpy() == 1.5
        writer.append([2.5])
        assert reference.expired
        with pytest.raises(RuntimeError):
            reference.numpy()
        writer.close()


_NAMES = """
    ItemSelector FifoSelector LifoSelector UniformSelector HeapSelector PrioritizedSelector selector_from_proto
    TableExtension RateLimiter Table Writer Sampler Client Checkpointer create_default_checkpointer Server WeakCellRef
    ChunkerOptions ConstantChunkerOptions AutoTunedChunkerOptions TrajectoryWriter StructuredWriter
""".split()


def test_names():
    assert set(_NAMES) <= set(pybind.__all__)
    assert rate_limiters.InternalRateLimiter is pybind.RateLimiter
    for name in pybind.__all__:
        assert hasattr(pybind, name)

"""What TF-Agents needs of this package, tried without TF-Agents: the calls it makes and what its tests lean on."""

import collections
import collections.abc

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import uniform_table

Step = collections.namedtuple("Step", "observation reward policy_info")


def make_server(*tables, port=None, **options):
    return reverb.Server(
        tables=list(tables) or [reverb.Table.queue("queue", 10)], port=port, **options
    )


def column(dataset):
    return [float(element.data.reward[0]) for element in dataset]


_DTYPES = Step({"x": tf.float32}, tf.float32, ())
_SHAPES = Step({"x": tf.TensorShape([None, 2])}, tf.TensorShape([None]), ())


def step(i):
    return Step({"x": np.full(2, i, np.float32)}, np.float32(i), ())


def write(client, table, values, priority=1.0):
    with client.trajectory_writer(2, validate_items=False) as writer:
        for value in values:
            writer.append(step(value))
            trajectory = tf.nest.map_structure(lambda h: h[-1:], writer.history)
            writer.create_item(table, priority, trajectory)


@pytest.fixture
def server():
    server = make_server(uniform_table("uniform"), reverb.Table.queue("queue", 100))
    yield server
    server.stop()


# Writers.


def test_history_is_mapped_by_tf_nest(server):
    client = server.localhost_client()
    with client.trajectory_writer(num_keep_alive_refs=4, validate_items=False) as writer:
        for value in (np.zeros(2, np.float32), tf.ones([2])):  # eager tensors are padding
            writer.append(Step({"x": value}, 0.5, ()))
        history = writer.history
        assert isinstance(history, Step) and history.policy_info == ()
        assert not isinstance(history.reward, collections.abc.Sequence)
        whole = tf.nest.map_structure(lambda h: h[:], history)
        last = tf.nest.map_structure(lambda h: h[-1:], history)
        writer.create_item(table="queue", trajectory=whole, priority=1)
        writer.create_item("queue", trajectory=last, priority=1)
        writer.flush()
        writer.end_episode()
    samples = list(client.sample("queue", 2, emit_timesteps=False))
    assert samples[0].data[0].tolist() == [[0, 0], [1, 1]]
    assert samples[1].data[1].tolist() == [0.5]


def test_items_go_out_without_flush(server):
    writer = server.localhost_client().trajectory_writer(1, validate_items=False)
    writer.append(step(5))
    writer.create_item("queue", 1.0, tf.nest.map_structure(lambda h: h[-1:], writer.history))
    # Blocks until the item is there; a timeout would end the test.
    ((sample,),) = server.localhost_client().sample("queue", 1, timeout=600)
    assert sample.data[1] == 5
    writer.close()


def test_the_old_writer(server):
    client = server.localhost_client()
    with client.writer(1) as writer:
        writer.append([np.zeros([2], np.float32), np.float32(3)])
        writer.create_item("queue", 1, 1.0)
    sample = next(client.sample("queue", 1))
    assert [array.tolist() for array in sample[0].data] == [[0, 0], 3]


# Servers and tables.


def test_servers_one_after_the_other():
    for _ in range(60):
        server = make_server()
        assert server.port > 0
        client = server.localhost_client()
        client.insert([1.0], {"queue": 1.0})
        assert client.server_info()["queue"].current_size == 1
        server.stop()


def test_signatures_survive_the_wire():
    signature = {
        "named": Step(
            {"x": tf.TensorSpec([None, 2], tf.float32, "observation")},
            tf.TensorSpec([], tf.float64, "reward"),
            (),
        ),
        "bounded": (tf.TensorSpec([3], tf.int64), tf.TensorSpec([], tf.bool)),
        "none": None,
    }
    bounded = {"action": _bounded([2], tf.int32, "action", [0, 1], [2, 3])}
    signature["limits"] = bounded
    server = make_server(*(uniform_table(name, value) for name, value in signature.items()))
    info = server.localhost_client().server_info()
    assert info["none"].signature is None
    assert not info["bounded"].signature != signature["bounded"]
    got = info["named"].signature
    assert not tuple(got) != tuple(signature["named"]) and got._fields == Step._fields
    limits = info["limits"].signature["action"]
    assert (limits.shape, limits.dtype, limits.name) == ([2], tf.int32, "action")
    assert (limits.minimum.tolist(), limits.maximum.tolist()) == ([0, 1], [2, 3])
    server.stop()


def _bounded(shape, dtype, name, minimum, maximum):
    from tensorflow.python.framework import tensor_spec

    return tensor_spec.BoundedTensorSpec(shape, dtype, minimum, maximum, name)


def test_table_info_has_what_is_read_and_printed(server):
    info = server.localhost_client().server_info()["queue"]
    assert (info.name, info.max_size, info.current_size) == ("queue", 100, 0)
    assert info.sampler_options.is_deterministic and info.remover_options.is_deterministic
    uniform = server.localhost_client().server_info()["uniform"]
    assert not uniform.sampler_options.is_deterministic
    for field in (
        "name sampler_options remover_options max_size max_times_sampled rate_limiter_info signature "
        "current_size num_episodes num_deleted_episodes num_unique_samples table_worker_time"
    ).split():
        assert f"{field}=" in repr(info), field


@pytest.mark.parametrize("name", ["Uniform", "Fifo", "MaxHeap", "MinHeap", "Prioritized"])
def test_selectors_by_name(name):
    arguments = [1.0] if name == "Prioritized" else []
    selector = getattr(reverb.selectors, name)(*arguments)
    table = reverb.Table(
        "table", selector, reverb.selectors.Fifo(), 5, reverb.rate_limiters.MinSize(1)
    )
    server = make_server(table)
    server.localhost_client().insert([1.0], {"table": 1.0})
    assert table.can_sample(1) and table.info.current_size == 1
    server.localhost_client().reset("table")
    assert table.info.current_size == 0
    server.stop()


def test_priority_zero_waits_until_it_is_alone():
    table = reverb.Table(
        name="table",
        sampler=reverb.selectors.Prioritized(1.0),
        remover=reverb.selectors.Fifo(),
        rate_limiter=reverb.rate_limiters.MinSize(1),
        max_size=3,
        max_times_sampled=10,
    )
    server = make_server(table)
    client = server.localhost_client()
    for value, priority in enumerate((0.0, 1.0, 1.0)):
        client.insert([np.int64(value)], {"table": priority})
    assert table.can_sample(3)
    seen = [int(sample[0].data[0]) for sample in client.sample("table", 30)]
    assert collections.Counter(seen) == {0: 10, 1: 10, 2: 10}
    assert seen[20:] == [0] * 10
    assert not table.can_sample(3)
    server.stop()


def test_rate_limiters_by_keyword():
    limiter = reverb.rate_limiters.SampleToInsertRatio(
        samples_per_insert=2.0, min_size_to_sample=1, error_buffer=4.0
    )
    sampler = reverb.selectors.Prioritized(priority_exponent=1.0)
    table = reverb.Table("table", sampler, reverb.selectors.Fifo(), 5, limiter)
    server = make_server(table)
    server.localhost_client().insert([1.0], {"table": 1.0})
    assert len(list(server.localhost_client().sample("table", 2))) == 2
    server.stop()


def test_what_rlds_imports():
    """It is in annotations of rlds: without these names it cannot be imported."""
    module = reverb.structured_writer
    assert reverb.PatternDataset
    assert module.Config and module.ReferenceStep and module.Pattern and module.Condition
    assert module.pattern_from_transform and module.create_config


def test_a_stopped_server_ends_those_that_wait_for_it(in_thread):
    server = make_server()
    call = in_thread(server.wait)
    server.stop()
    call.result()


def test_the_checkpointer_is_found_through_platform(tmp_path):
    checkpointer = reverb.platform.checkpointers_lib.DefaultCheckpointer(path=str(tmp_path))
    server = make_server(checkpointer=checkpointer)
    assert server.localhost_client().checkpoint().startswith(str(tmp_path))
    server.stop()


# Samples and datasets.


def test_sample_info():
    info = reverb.SampleInfo(*[1, 0.5, 3, 1.0, 2])
    assert info._replace(priority=7.0).priority == 7.0
    assert len(reverb.SampleInfo.tf_dtypes()) == 5
    assert reverb.ReplaySample(info, "data")._fields == ("info", "data")


def test_tf_client_with_a_nest_of_dtypes(server):
    address = f"localhost:{server.port}"
    for shared_name in ([], ["rb_tf_client"]):
        client = reverb.TFClient(address, *shared_name)
        values = [tf.constant([1.0, 2.0]), tf.constant(3.0)]
        client.insert(
            data=values,
            tables=tf.constant(["queue"]),
            priorities=tf.constant([1.0], tf.float64),
        )
        sample = client.sample("queue", data_dtypes=[_DTYPES]).data[0]
        assert isinstance(sample, Step) and sample.policy_info == ()
        assert sample.observation["x"].numpy().tolist() == [1, 2] and sample.reward == 3.0


def _dataset(address, table, **options):
    return reverb.TrajectoryDataset(
        address, table, _DTYPES, _SHAPES, max_in_flight_samples_per_worker=1, **options
    )


def test_a_dataset_in_interleave_ends_when_nothing_comes(server):
    address = f"localhost:{server.port}"
    write(server.localhost_client(), "queue", range(20))
    options = tf.data.Options()
    options.deterministic = False
    dataset = (
        tf.data.Dataset.range(1)
        .interleave(
            lambda _: _dataset(
                address,
                "queue",
                num_workers_per_iterator=1,
                max_samples_per_stream=-1,
                rate_limiter_timeout_ms=100,
            ),
            cycle_length=1,
            num_parallel_calls=1,
        )
        .with_options(options)
        .prefetch(1)
    )
    assert column(dataset) == list(range(20))  # and ends without an error


def test_a_mapped_sample_is_one_argument(server):
    write(server.localhost_client(), "uniform", [4])
    dataset = _dataset(f"localhost:{server.port}", "uniform", max_samples=3)

    def unpack(sample):
        info, trajectory = sample
        assert info is sample.info and trajectory is sample.data
        return trajectory, info

    elements = list(dataset.map(unpack))
    assert [float(trajectory.reward[0]) for trajectory, _ in elements] == [4, 4, 4]
    assert isinstance(elements[0][0], Step) and isinstance(elements[0][1], reverb.SampleInfo)


def test_a_distributed_dataset(server):
    if len(tf.config.list_logical_devices("CPU")) < 2:
        pytest.skip("TensorFlow was in use before it could be given two CPUs")
    write(server.localhost_client(), "uniform", [4])
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    dataset = _dataset(f"localhost:{server.port}", "uniform").batch(4)
    options = tf.data.Options()
    options.deterministic = False
    iterator = iter(strategy.experimental_distribute_dataset(dataset.with_options(options)))

    @tf.function
    def total():
        rewards = strategy.run(lambda sample: tf.reduce_sum(sample.data.reward), (next(iterator),))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, rewards, axis=None)

    assert total() == 16.0

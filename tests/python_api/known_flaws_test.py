"""The kinds of flaws that users of replay systems suffer from most, a test each. Finer tests are beside each topic."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support

_TABLES = """[
    reverb.Table.queue("queue", 2),
    reverb.Table.queue("long_queue", 10),
    reverb.Table("prioritized", reverb.selectors.Prioritized(1.0), reverb.selectors.Fifo(), 100,
                 reverb.rate_limiters.MinSize(3)),
    reverb.Table("uniform", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 100,
                 reverb.rate_limiters.MinSize(1)),
]"""


@pytest.fixture
def server(serve):
    return serve(_TABLES)


@pytest.fixture
def client(server):
    return reverb.Client(server.address)


def fill(client, table, count):
    for i in range(count):
        client.insert([i], {table: 1.0}, timeout=support.PATIENCE)


def test_silent_wait_the_timeout_says_which_table_and_numbers(client):
    fill(client, "prioritized", 2)
    with pytest.raises(errors.DeadlineExceededError) as sampling:
        next(client.sample("prioritized", timeout=0.3))
    assert "'prioritized'" in str(sampling.value)
    assert "2" in str(sampling.value) and "3" in str(sampling.value), sampling.value
    fill(client, "queue", 2)
    with pytest.raises(errors.DeadlineExceededError, match="'queue'") as inserting:
        client.insert([2], {"queue": 1.0}, timeout=0.3)
    assert "2" in str(inserting.value), inserting.value


def test_silent_wait_is_not_silent():
    # Nothing is asserted of the time: the process waits until it has said so.
    code = """
        import reverb_tf as reverb
        server = reverb.Server([reverb.Table.queue("queue", 1)], host="127.0.0.1")
        next(server.localhost_client().sample("queue"))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stderr=subprocess.PIPE,
        text=True,
        env=support.environment(),
    )
    guard = threading.Timer(support.PATIENCE, process.kill)
    guard.start()
    try:
        line = process.stderr.readline()
    finally:
        guard.cancel()
        process.kill()
        process.wait(support.PATIENCE)
        process.stderr.close()
    assert "still waiting" in line and "'queue'" in line


@pytest.mark.parametrize("priority", [-1.0, float("nan"), float("inf")])
def test_poison_is_refused_to_its_sender_alone(server, client, priority):
    with client.trajectory_writer(1) as good, client.trajectory_writer(1) as bad:
        for writer in (good, bad):
            writer.append(np.float32(1))
        good.create_item("prioritized", 1.0, good.history[:])
        with pytest.raises(ValueError, match="(?i)" + str(priority)[:3]):
            bad.create_item("prioritized", priority, bad.history[:])
            bad.flush()
        good.flush()
        for _ in range(2):
            good.append(np.float32(2))
            good.create_item("prioritized", 1.0, good.history[-1:])
    with pytest.raises(ValueError, match="(?i)" + str(priority)[:3]):
        client.insert([1], {"prioritized": priority})
    key = next(client.sample("prioritized"))[0].info.key
    with pytest.raises(ValueError, match="(?i)" + str(priority)[:3]):
        client.mutate_priorities("prioritized", {key: priority})
    assert reverb.Client(server.address).server_info()["prioritized"].current_size == 3
    assert len(list(client.sample("prioritized", 10))) == 10


def test_silent_corruption_strided_and_reordered_steps(client):
    steps = np.arange(60, dtype=np.float64).reshape(20, 3)[:, ::-1]  # an unusual layout, too
    with client.trajectory_writer(20) as writer:
        writer.configure((), num_keep_alive_refs=20, max_chunk_length=7)
        for step in steps:
            writer.append(step)
        choices = [slice(None, None, 2), slice(None, None, -3), [3, 1, 1], [-1, 0], slice(5, -5, 4)]
        for choice in choices:
            writer.create_item("queue", 1.0, writer.history[choice])
            writer.flush(timeout=support.PATIENCE)
            (sample,) = client.sample("queue", emit_timesteps=False)
            np.testing.assert_array_equal(sample.data[0], steps[choice])


def test_lost_data_close_without_flush_says_what_is_gone_and_flush_keeps_its_word(server, client):
    writer = client.trajectory_writer(1)
    for i in range(3):
        writer.append(np.int64(i))
        writer.create_item("queue", 1.0, writer.history[-1:])
    with pytest.raises(errors.DeadlineExceededError, match="1 unconfirmed"):
        writer.flush(timeout=0.5)  # two are acknowledged, one waits for the full queue
    assert client.server_info()["queue"].current_size == 2
    assert [int(sample[0].data[0]) for sample in client.sample("queue", 2)] == [0, 1]
    writer.flush(timeout=support.PATIENCE)
    assert client.server_info()["queue"].current_size == 1
    writer.close()


def test_lost_data_a_stopped_server_is_no_success(serve):
    server = serve(_TABLES)
    client = reverb.Client(server.address)
    fill(client, "queue", 2)
    writer = client.trajectory_writer(1)
    writer.append(np.int64(2))
    writer.create_item("queue", 1.0, writer.history[:])
    server.stop()
    with pytest.raises(errors.ReverbError):
        writer.flush(timeout=0.5)
    writer.close()


def test_lost_data_an_iterator_dropped_early_loses_at_most_its_bound(client):
    fill(client, "long_queue", 10)
    samples = client.sample("long_queue", 10, max_in_flight_samples=3)
    next(samples)
    samples.close()
    assert client.server_info()["long_queue"].current_size >= 10 - 1 - 3


def test_lost_exception_leaves_a_with_block_at_once(client):
    fill(client, "queue", 2)

    class Failure(Exception):
        pass

    with pytest.raises(Failure):
        with client.trajectory_writer(1) as writer:
            writer.append(np.int64(2))
            writer.create_item("queue", 1.0, writer.history[:])  # will not fit
            raise Failure
    with pytest.raises(Failure):
        for _ in client.sample("queue", 2):
            raise Failure


def test_shutdown_ends_blocked_callers():
    with reverb.Server([reverb.Table.queue("queue", 1)], host="127.0.0.1") as server:
        client = server.localhost_client()
        waiting = support.Call(server.wait)
        client.insert([0], {"queue": 1.0})
        inserting = support.Call(lambda: client.insert([1], {"queue": 1.0}, timeout=5))
    with pytest.raises(errors.ReverbError):
        inserting.result()
    waiting.result()


def test_shutdown_is_reported_by_remote_callers_that_do_not_want_to_wait_for_a_restart(serve):
    server = serve(_TABLES)
    client = reverb.Client(server.address)
    fill(client, "queue", 2)
    inserting = support.Call(lambda: client.insert([3], {"queue": 1.0}, timeout=2))
    sampling = support.Call(lambda: next(client.sample("prioritized", timeout=2)))
    server.stop()
    for call in (inserting, sampling):
        with pytest.raises(errors.ReverbError):
            call.result()


def test_shutdown_ctrl_c_in_wait_leaves_time_for_a_last_look():
    result = support.interrupt_script(
        """
        import sys, threading
        import reverb_tf as reverb
        sys.setswitchinterval(1e6)
        server = reverb.Server([reverb.Table.queue("queue", 1)], host="127.0.0.1")
        thread = threading.Thread(target=lambda: print("now", flush=True))
        try:
            thread.start()
            server.wait()
        except KeyboardInterrupt:
            server.localhost_client().insert([1], {"queue": 1.0})
            print(server.localhost_client().server_info()["queue"].current_size)
        server.stop()
        """
    )
    assert (result.returncode, result.stdout.split()) == (0, ["1"]), result.stderr


def test_ports_a_second_server_on_a_port_is_refused_by_name(server):
    result = support.run_script(
        """
        import sys
        import reverb_tf as reverb
        try:
            reverb.Server([reverb.Table.queue("queue", 1)], port=int(sys.argv[1]))
        except ValueError as e:
            print(e)
        """,
        str(server.port),
    )
    assert str(server.port) in result.stdout, result.stderr


@pytest.mark.parametrize("variable", ["http_proxy", "grpc_proxy", "HTTPS_PROXY", "all_proxy"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_proxies_are_ignored_for_loopback(monkeypatch, variable, host):
    remote = support.RemoteServer(_TABLES)
    try:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{support.dead_port()}")
        result = support.run_script(
            """
            import sys
            import reverb_tf as reverb
            print(sorted(reverb.Client(sys.argv[1]).server_info(timeout=60)))
            """,
            f"{host}:{remote.port}",
        )
    finally:
        remote.stop()
    assert result.stdout.strip() == "['long_queue', 'prioritized', 'queue', 'uniform']", (
        result.stderr
    )


def test_processes_a_forked_child_raises_instead_of_hanging(server, client):
    client.server_info()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            client.server_info(timeout=support.PATIENCE)
        except errors.FailedPreconditionError as e:
            os.write(write, str(e).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert "spawn" in pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    client.server_info()


def test_opacity_keys_are_returned_and_lead_to_their_items(client):
    (first,) = client.insert([np.float32(1)], {"uniform": 0.5})
    with client.trajectory_writer(1) as writer:
        writer.append(np.float32(2))
        second = writer.create_item("uniform", 2.0, writer.history[:])
    items = {item.key: item for item in client.list_items("uniform")}
    assert {key: item.priority for key, item in items.items()} == {first: 0.5, second: 2.0}
    (sample,) = client.get("uniform", [second])
    np.testing.assert_array_equal(sample.data[0], np.float32([2]))
    info = client.server_info()["uniform"]
    assert (info.priority_min, info.priority_max, info.priority_sum) == (0.5, 2.0, 2.5)
    assert client.delete("uniform", [first]) == 1
    assert [item.key for item in client.list_items("uniform")] == [second]


def test_noise_nothing_is_said_unasked():
    result = support.run_script(
        """
        import numpy as np
        import reverb_tf as reverb
        with reverb.Server([reverb.Table.queue("queue", 2)], host="127.0.0.1") as server:
            for address in (f"localhost:{server.port}", f"127.0.0.1:{server.port}"):
                client = reverb.Client(address)
                client.insert([np.float32(1)], {"queue": 1.0})
                with client.trajectory_writer(1) as writer:
                    writer.append({"x": 1})
                    writer.create_item("queue", 1.0, writer.history["x"][:])
                list(client.sample("queue", 2))
                client.reset("queue")
        try:
            client.insert([object()], {"queue": 1.0})
        except TypeError as e:
            print(e)
        """
    )
    assert result.returncode == 0 and result.stderr == "", result.stderr
    assert "object" in result.stdout and len(result.stdout.splitlines()) == 1


def test_noise_a_server_that_is_interrupted_says_nothing():
    result = support.interrupt_script(
        """
        import reverb_tf as reverb
        try:
            server = reverb.Server([reverb.Table.queue("queue", 1)], host="127.0.0.1")
            print("now", flush=True)
            server.wait()
        except KeyboardInterrupt:
            server.stop()
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")

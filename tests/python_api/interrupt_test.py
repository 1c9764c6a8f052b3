"""Ctrl-C ends every call that can block, and leaves what it waited for usable."""

import pytest

from tests.python_api import support

# `block(call)` runs a call that blocks for ever and reports how it ended. The interrupt is asked for by another thread,
# which runs only once this one has given the GIL away: inside the call.
_PRELUDE = """
import sys, threading
sys.setswitchinterval(1e6)
import numpy as np
import reverb_tf as reverb
from tests.python_api import support

def block(call):
    ready = threading.Event()
    def ask():
        ready.wait()
        print("now", flush=True)
    thread = threading.Thread(target=ask)
    thread.start()
    ready.set()
    try:
        call()
    except BaseException as e:
        print(type(e).__name__, flush=True)
    else:
        print("returned", flush=True)
    thread.join()
"""

_LOCAL = """
server = reverb.Server([reverb.Table.queue("q", 1)])
client = server.localhost_client()
"""

_GRPC = """
server = support.RemoteServer('[reverb.Table.queue("q", 1)]')
client = reverb.Client(server.address)
"""

_NOBODY = """
client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
"""

_WAITING = {
    "sample": """
        samples = client.sample("q")
        block(lambda: next(samples))
        client.insert([1], {"q": 1.0})
        print(int(next(client.sample("q"))[0].data[0]))
    """,
    "insert": """
        client.insert([1], {"q": 1.0})
        block(lambda: client.insert([2], {"q": 1.0}))
        print(int(next(client.sample("q"))[0].data[0]))
    """,
    "flush": """
        writer = client.trajectory_writer(1)
        for i in range(1, 4):
            writer.append(i)
            writer.create_item("q", 1.0, writer.history[-1:])
        block(writer.flush)
        print(int(next(client.sample("q"))[0].data[0]))
        writer.close()
    """,
    "end_episode": """
        writer = client.trajectory_writer(1)
        for i in range(1, 4):
            writer.append(i)
            writer.create_item("q", 1.0, writer.history[-1:])
        block(writer.end_episode)
        print(int(next(client.sample("q"))[0].data[0]))
        writer.close()
    """,
    "writer create_item": """
        writer = client.writer(1, max_in_flight_items=2)
        for i in range(1, 4):
            writer.append(i)
            writer.create_item("q", 1, 1.0)
        block(lambda: writer.create_item("q", 1, 1.0))
        print(int(next(client.sample("q"))[0].data[0]))
    """,
    "writer flush": """
        writer = client.writer(1, max_in_flight_items=2)
        for i in range(1, 4):
            writer.append(i)
            writer.create_item("q", 1, 1.0)
        block(writer.flush)
        print(int(next(client.sample("q"))[0].data[0]))
    """,
    "writer close": """
        writer = client.writer(1, max_in_flight_items=2)
        for i in range(1, 4):
            writer.append(i)
            writer.create_item("q", 1, 1.0)
        block(writer.close)
        print(int(next(client.sample("q"))[0].data[0]))
    """,
    "append_batch": """
        writer = client.trajectory_writer(1)
        batch = {"x": np.arange(1, 5001)}
        writer.append_batch(batch, "q", 1.0)
        block(lambda: writer.append_batch(batch, "q", 1.0))
        print(int(next(client.sample("q"))[0].data[0]))
        writer.close()
    """,
    "structured flush": """
        ref = reverb.structured.create_reference_step(None)
        config = reverb.structured.create_config(ref[-1:], "q")
        writer = client.structured_writer([config])
        for i in range(1, 4):
            writer.append(i)
        block(writer.flush)
        print(int(next(client.sample("q"))[0].data[0]))
    """,
    "structured end_episode": """
        ref = reverb.structured.create_reference_step(None)
        config = reverb.structured.create_config(ref[-1:], "q")
        writer = client.structured_writer([config])
        for i in range(1, 4):
            writer.append(i)
        block(writer.end_episode)
        print(int(next(client.sample("q"))[0].data[0]))
    """,
}

_ABSENT = {
    "server_info": "block(client.server_info)",
    "insert": 'block(lambda: client.insert([1], {"q": 1.0}))',
    "sample": 'block(lambda: next(client.sample("q")))',
    "mutate_priorities": 'block(lambda: client.mutate_priorities("q", deletes=[1]))',
    "reset": 'block(lambda: client.reset("q"))',
    "get": 'block(lambda: client.get("q", [1]))',
    "list_items": 'block(lambda: next(client.list_items("q")))',
    "delete": 'block(lambda: client.delete("q", [1]))',
    "set_rate_limiter": 'block(lambda: client.set_rate_limiter("q", reverb.rate_limiters.MinSize(1)))',
    "trajectory_writer": "block(lambda: client.trajectory_writer(1))",
    "writer": "block(lambda: client.writer(1))",
}


def run(*parts: str) -> list[str]:
    import textwrap

    code = _PRELUDE + "".join(textwrap.dedent(part) for part in parts)
    result = support.interrupt_script(code)
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


@pytest.mark.parametrize("server", [_LOCAL, _GRPC], ids=["local", "grpc"])
@pytest.mark.parametrize("call", _WAITING)
def test_waiting_for_a_table(server, call):
    assert run(server, _WAITING[call], "server.stop()") == ["KeyboardInterrupt", "1"]


@pytest.mark.parametrize("call", _ABSENT)
def test_waiting_for_an_absent_server(call):
    assert run(_NOBODY, _ABSENT[call]) == ["KeyboardInterrupt"]


def test_waiting_for_the_server_to_stop_leaves_it_running():
    assert run(
        _LOCAL,
        """
        block(server.wait)
        client.insert([1], {"q": 1.0})
        print(server.port > 0)
        server.stop()
        server.wait()
        """,
    ) == ["KeyboardInterrupt", "True"]


def test_what_a_signal_handler_raises_comes_out():
    assert run(
        _LOCAL,
        """
        import signal
        class Stop(Exception):
            pass
        def handler(*unused):
            raise Stop
        signal.signal(signal.SIGINT, handler)
        block(lambda: next(client.sample("q")))
        """,
    ) == ["Stop"]


def test_a_handler_that_does_not_raise_does_not_end_the_call():
    assert run(
        _LOCAL,
        """
        import signal
        handled = threading.Event()
        signal.signal(signal.SIGINT, lambda *unused: handled.set())
        def insert():
            handled.wait()
            client.insert([1], {"q": 1.0})
        thread = threading.Thread(target=insert)
        thread.start()
        block(lambda: next(client.sample("q")))
        thread.join()
        """,
    ) == ["returned"]

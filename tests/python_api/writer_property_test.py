"""What any writer is given comes back equal, bit for bit: any nest, chunk length and choice of steps, on both paths."""

import hypothesis
import pytest
from hypothesis import strategies as st

import reverb_tf as reverb
from reverb_tf import _native
from tests.python_api import support
from tests.python_api.arrays import (
    LAYOUTS,
    assert_same,
    columns,
    indices,
    lay_out,
    pick,
    step_nests,
)

_SETTINGS = hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)


@pytest.fixture(params=["local", "grpc"], scope="module")
def client(request):
    cls = support.LocalServer if request.param == "local" else support.RemoteServer
    server = cls('[reverb.Table.queue("q", 1000)]')
    yield reverb.Client(server.address)
    server.stop()


def check(client, expected):
    """That the queue has items of these columns and no more."""
    samples = []
    if expected:
        samples = client.sample("q", len(expected), emit_timesteps=False, timeout=support.PATIENCE)
    for sample, item in zip(samples, expected, strict=True):
        for got, column in zip(sample.data, item, strict=True):
            assert_same(got, column)
    assert client.server_info()["q"].current_size == 0


@_SETTINGS
@hypothesis.given(data=st.data())
def test_writer(client, data):
    client.reset("q")  # what a failed example left
    num_steps = data.draw(st.integers(1, 8))
    nests, leaves = data.draw(step_nests(num_steps))
    most = data.draw(st.integers(1, num_steps))
    expected = []
    with client.writer(
        most,
        delta_encoded=data.draw(st.booleans()),
        chunk_length=data.draw(st.integers(1, most)),
        max_in_flight_items=data.draw(st.sampled_from([1, 2, 25, None])),
    ) as writer:
        for i, nest in enumerate(nests):
            writer.append(nest, timeout=support.PATIENCE)
            for _ in range(data.draw(st.integers(0, 2))):
                length = data.draw(st.integers(1, min(most, i + 1)))
                writer.create_item("q", length, 1.0, timeout=support.PATIENCE)
                expected.append([pick(rows, slice(i + 1 - length, i + 1)) for rows in leaves])
            if data.draw(st.integers(0, 4)) == 0:
                writer.flush(timeout=support.PATIENCE)
    check(client, expected)


@_SETTINGS
@hypothesis.given(data=st.data())
def test_writer_of_changing_arrays(client, data):
    client.reset("q")
    length = data.draw(st.integers(1, 3))
    expected = []
    with client.writer(length, chunk_length=length) as writer:
        for _ in range(data.draw(st.integers(1, 4))):
            rows, want = data.draw(columns(length))
            writer.append_sequence([pick(rows, slice(None))])
            writer.create_item("q", length, 1.0)
            expected.append([pick(want, slice(None))])
    check(client, expected)


@_SETTINGS
@hypothesis.given(data=st.data())
def test_trajectory_writer(client, data):
    """Nests by the step, the sequence and the batch."""
    client.reset("q")
    num_steps = data.draw(st.integers(1, 12))
    nests, leaves = data.draw(step_nests(num_steps))
    structure = _native._reverb.Structure(nests[0])
    keep = data.draw(st.integers(1, num_steps))
    expected = []
    writer = client.trajectory_writer(keep, validate_items=False)
    length = data.draw(st.one_of(st.none(), st.integers(1, keep)))
    for path, _ in _native._reverb.flatten_with_path(nests[0]):
        writer.configure(path, num_keep_alive_refs=keep, max_chunk_length=length)
    step = 0
    while step < num_steps:
        how = data.draw(st.sampled_from(["step", "sequence", "batch"]))
        count = 1 if how == "step" else data.draw(st.integers(1, num_steps - step))
        steps = slice(step, step + count)
        rows = structure.rebuild(
            [lay_out(pick(leaf, steps), data.draw(st.sampled_from(LAYOUTS))) for leaf in leaves]
        )
        step += count
        if how == "step":
            writer.append(nests[step - 1])
        elif how == "sequence":
            writer.append_sequence(rows)
        else:
            writer.append_batch(rows, "q", 1.0)
            expected += [[pick(leaf, [i]) for leaf in leaves] for i in range(step)[steps]]
        kept = range(max(0, step - keep), step)
        if data.draw(st.booleans()):
            choice = data.draw(indices(len(kept)))
            columns = [h[kept[0] :][choice] for h in _native._reverb.flatten(writer.history)]
            writer.create_item("q", 1.0, columns)
            expected.append([pick(leaf[kept[0] : step], choice) for leaf in leaves])
    writer.flush(timeout=support.PATIENCE)
    check(client, expected)

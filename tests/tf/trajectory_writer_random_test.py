"""TFTrajectoryWriter writes what TrajectoryWriter writes: random programs on both, compared item by item."""

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st

import reverb_tf as reverb
from tests.tf.support import Service

SPEC = {"a": tf.TensorSpec([], tf.int64), "b": tf.TensorSpec([2], tf.float32)}

_POSITIONS = st.one_of(st.none(), st.integers(-3, 4))
# Mostly ones that are there.
_INDEX = st.one_of(
    st.integers(-2, -1),
    st.builds(slice, st.integers(-3, -1), st.none()),
    st.integers(-3, 3),
    st.builds(slice, _POSITIONS, _POSITIONS),
)


@pytest.fixture(params=[True, False], ids=["in-process", "grpc"], scope="module")
def service(request):
    tables = [reverb.Table.queue(name, 10_000) for name in ("graph", "python")]
    service = Service(tables, in_process=request.param)
    yield service
    service.server.stop()


_CALLS = ["append_whole"] * 4 + ["append_part"] + ["create_item"] * 5 + ["end_episode", "flush"]


class Model:
    """One environment: a TrajectoryWriter, and what tells whether it would refuse a call."""

    def __init__(self, client, keep, chunk_length):
        self.writer = client.trajectory_writer(keep)
        for column in ("a", "b"):
            self.writer.configure(
                (column,), num_keep_alive_refs=keep, max_chunk_length=chunk_length
            )
        # So that both columns are known from the start.
        self.writer.append({"a": np.int64(0), "b": np.zeros(2, np.float32)})
        self.writer.end_episode()
        self.open: set[str] = set()

    def accepts(self, data):
        return not self.open & set(data)

    def append(self, data, partial):
        self.writer.append(data, partial_step=partial)
        self.open = self.open | set(data) if partial else set()

    def end_episode(self, clear):
        self.writer.end_episode(clear_buffers=clear)
        self.open = set()

    def has(self, index):
        """Whether every step of the index exists, with nothing clipped."""
        size = len(self.writer.history["a"])
        if not isinstance(index, slice):
            return -size <= index < size
        start, stop = index.start or 0, size if index.stop is None else index.stop
        start, stop = (i + size if i < 0 else i for i in (start, stop))
        return 0 <= start < stop <= size

    def trajectory(self, choices):
        """The columns of an item; None if there can be none."""
        try:
            columns = [self.writer.history[name][index] for name, index in choices]
        except (IndexError, ValueError):
            return None
        return columns if all(len(column) for column in columns) else None


def draw_mask(data, batch_size):
    everyone = data.draw(st.booleans(), label="everyone")
    one = st.just(True) if everyone else st.booleans()
    if batch_size is None:
        return data.draw(one, label="mask")
    return data.draw(st.lists(one, min_size=batch_size, max_size=batch_size), label="mask")


class Programs:
    """Does the same with both writers."""

    def __init__(self, service, data):
        keep = data.draw(st.integers(1, 4), label="keep")
        chunk_length = data.draw(st.one_of(st.none(), st.integers(1, keep)), label="chunk length")
        self.data = data
        self.batch_size = data.draw(st.sampled_from([None, 1, 3]), label="batch size")
        self.keep = keep
        self.models = [
            Model(service.client, keep, chunk_length) for _ in range(self.batch_size or 1)
        ]
        self.writer = reverb.TFClient(service.address).trajectory_writer(
            SPEC, keep, batch_size=self.batch_size, max_chunk_length=chunk_length
        )
        self.next_value = 1

    def chosen(self, mask):
        return [m for m, chosen in zip(self.models, np.atleast_1d(mask), strict=True) if chosen]

    def values(self, names):
        """The values of a step for each environment."""
        steps = []
        for _ in self.models:
            a, b = self.next_value, np.full(2, self.next_value, np.float32)
            steps.append({k: v for k, v in (("a", np.int64(a)), ("b", b)) if k in names})
            self.next_value += 1
        return steps

    def append_part(self):
        names = self.data.draw(st.sampled_from(["ab", "a", "b", ""]), label="columns")
        partial = self.data.draw(st.booleans(), label="partial")
        self.append(names, partial, draw_mask(self.data, self.batch_size))

    def append_whole(self):
        self.append("ab", False, draw_mask(self.data, self.batch_size))

    def append(self, names, partial, mask):
        steps = self.values(names)
        tensors = {name: np.stack([step[name] for step in steps]) for name in names}
        if self.batch_size is None:
            tensors = steps[0]
        if not all(model.accepts(tensors) for model in self.chosen(mask)):
            with pytest.raises(tf.errors.FailedPreconditionError):
                self.writer.append(tensors, partial_step=partial, mask=mask)
            return
        self.writer.append(tensors, partial_step=partial, mask=mask)
        for model, step in zip(self.models, steps, strict=True):
            if model in self.chosen(mask):
                model.append(step, partial)

    def create_item(self):
        skip = self.data.draw(st.sampled_from([True, True, False]), label="skip short ones")
        mask = draw_mask(self.data, self.batch_size)
        if self.data.draw(st.booleans(), label="by number"):
            count = self.data.draw(st.integers(1, self.keep))
            choices = [("a", slice(-count, None)), ("b", slice(-count, None))]
            arguments = {"num_timesteps": count}
            strict = True
        else:
            choices = self.data.draw(
                st.lists(st.tuples(st.sampled_from("ab"), _INDEX), min_size=1, max_size=3)
            )
            strict = False
        models = self.chosen(mask)
        if skip:
            models = [m for m in models if all(m.has(index) for _, index in choices)]
        trajectories = [model.trajectory(choices) for model in models]
        if strict:
            trajectories = [
                t if m.has(choices[0][1]) else None
                for m, t in zip(models, trajectories, strict=True)
            ]
        priorities = list(map(float, range(len(self.models))))

        def create():
            made = (
                arguments
                if strict
                else {"trajectory": [self.writer.history[n][i] for n, i in choices]}
            )
            priority = 0.0 if self.batch_size is None else priorities
            return self.writer.create_item("graph", priority, **made, skip_short=skip, mask=mask)

        if None in trajectories:
            with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
                create()
            return
        try:
            keys = create()
        except (
            ValueError
        ) as error:  # a slice that is empty in any episode, where nobody wants an item
            assert not models and "has no steps" in str(error)
            return
        assert [bool(key) for key in np.atleast_1d(keys)] == [m in models for m in self.models]
        for model, trajectory in zip(models, trajectories, strict=True):
            priority = priorities[self.models.index(model)]
            model.writer.create_item("python", priority, trajectory)

    def end_episode(self):
        clear = self.data.draw(st.booleans(), label="clear")
        mask = draw_mask(self.data, self.batch_size)
        self.writer.end_episode(clear, mask=mask)
        for model in self.chosen(mask):
            model.end_episode(clear)

    def flush(self):
        self.writer.flush()


def contents(service, table):
    """The items of each environment, which is their priority."""
    size = service.client.server_info(timeout=10)[table].current_size
    found: dict[float, list] = {}
    if size:
        for sample in service.client.sample(table, size, emit_timesteps=False, timeout=10):
            columns = [(str(np.asarray(c).dtype), np.asarray(c).tolist()) for c in sample.data]
            found.setdefault(sample.info.priority, []).append(columns)
    return found


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(data=st.data())
def test_equal_to_trajectory_writer(service, data):
    for table in ("graph", "python"):
        service.client.reset(table)  # what a failed example left
    programs = Programs(service, data)
    calls = data.draw(st.lists(st.sampled_from(_CALLS), min_size=10, max_size=30), label="calls")
    for call in calls:
        getattr(programs, call)()
    programs.writer.flush()
    for model in programs.models:
        model.writer.flush()
    assert contents(service, "graph") == contents(service, "python")

"""Any patterns, conditions and steps: a structured writer makes the items that a model in plain Python makes."""

import random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import reverb_tf as reverb
from reverb_tf import structured_writer
from tests.python_api import structured_model, support

# Fields in flattening order.
_FIELDS = ("flag", "number", "td", "unused", "vector")
_USED = {"flag": 0, "number": 1, "td": 2, "vector": 4}
_REF = structured_writer.create_reference_step(dict.fromkeys(_FIELDS))
_DATA = structured_writer.Condition.data(dict.fromkeys(_FIELDS))


@pytest.fixture(params=["local", "grpc"], scope="module")
def client(request):
    cls = support.LocalServer if request.param == "local" else support.RemoteServer
    server = cls('[reverb.Table.queue(name, 5000) for name in ("q0", "q1")]')
    yield reverb.Client(server.address)
    server.stop()


@st.composite
def nodes(draw):
    leaf = _REF[draw(st.sampled_from(sorted(_USED)))]
    start = draw(st.integers(-12, -1))
    if draw(st.booleans()):
        return leaf[start]
    stop = draw(st.one_of(st.none(), st.integers(start + 1, 0)))
    return leaf[start : stop : draw(st.one_of(st.none(), st.integers(1, 5)))]


@st.composite
def conditions(draw):
    left = draw(
        st.sampled_from(
            [
                structured_writer.Condition.step_index(),
                structured_writer.Condition.steps_since_applied(),
                structured_writer.Condition(structured_writer.ConditionProto(buffer_length=True)),
                *(_DATA[name] for name in ("flag", "number", "number", "vector")),
                None,
            ]
        )
    )
    if left is None:
        return structured_writer.Condition.is_end_episode()
    value = draw(st.integers(0, 8))
    modulus = draw(st.integers(1, 5))
    return draw(
        st.sampled_from(
            [
                left == value,
                left != value,
                left >= value,
                left < value,
                left > value,
                left <= value,
                left % modulus == value % modulus,
                left % modulus != value % modulus,
            ]
        )
    )


@st.composite
def configs(draw):
    priority = draw(
        st.one_of(
            st.builds(structured_writer.constant_priority_fn, st.floats(0, 10)),
            st.builds(
                structured_writer.td_error,
                st.floats(0, 1),
                st.just(dict.fromkeys(_FIELDS)),
                st.just(lambda step: step["td"]),
            ),
        )
    )
    return structured_writer.create_config(
        draw(st.lists(nodes(), min_size=1, max_size=4)),
        draw(st.sampled_from(["q0", "q1"])),
        draw(st.lists(conditions(), max_size=2)),
        priority,
    )


def random_values(rng, absent):
    """One value of each field, in order; None with probability `absent`."""
    number = rng.choice([rng.randrange(10), -rng.randrange(1, 10), 2**31, 2**32, 2**62])
    values = [
        np.array(rng.random() < 0.5),
        np.array(number, np.int64),
        np.array(rng.uniform(-5, 5)),
        np.array("text"),
        np.array([rng.random(), rng.random()], np.float32),
    ]
    return [None if rng.random() < absent else value for value in values]


def run(writer, model, rng, num_steps, absent, partial):
    """Appends random steps to both; the items that the model made."""
    items = []
    steps = 0
    while steps < num_steps or writer.step_is_open:
        if rng.random() < 0.03:
            clear = rng.random() < 0.5
            items += model.end_episode(clear)
            writer.end_episode(clear, timeout=support.PATIENCE)
        elif rng.random() < 0.05:
            writer.flush(timeout=support.PATIENCE)
        values = random_values(rng, absent)
        is_partial = rng.random() < partial
        data = dict(zip(_FIELDS, values, strict=True))
        if not model.can_append(values):
            with pytest.raises(reverb.errors.FailedPreconditionError):
                writer.append(data, partial_step=is_partial)
            values = [None] * len(values)
            data = dict.fromkeys(_FIELDS)
        writer.append(data, partial_step=is_partial)
        items += model.append(values, is_partial)
        steps += not is_partial
    items += model.end_episode(True)
    writer.end_episode(timeout=support.PATIENCE)
    return items


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(
    configs=st.lists(configs(), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
    num_steps=st.integers(101, 160),
    absent=st.sampled_from([0, 0, 0.02, 0.3]),
    partial=st.sampled_from([0, 0, 0.1, 0.4]),
)
def test_items_are_those_of_the_model(client, configs, seed, num_steps, absent, partial):
    for table in ("q0", "q1"):
        client.reset(table)  # what a failed example left
    model = structured_model.Model(configs)
    writer = client.structured_writer(configs)
    items = run(writer, model, random.Random(seed), num_steps, absent, partial)
    info = client.server_info(support.PATIENCE)
    for table in ("q0", "q1"):
        expected = [item for item in items if item.table == table]
        assert info[table].current_size == len(expected)
        samples = []
        if expected:
            samples = client.sample(
                table, len(expected), emit_timesteps=False, timeout=support.PATIENCE
            )
        for sample, item in zip(samples, expected, strict=True):
            assert sample.info.priority == pytest.approx(item.priority)
            assert [column.tolist() for column in sample.data] == item.columns

"""Table(seed=): the same calls in the same order make the same choices."""

import numpy as np
import pytest

import reverb_tf as reverb

_SELECTORS = {
    "uniform": reverb.selectors.Uniform,
    "prioritized": lambda: reverb.selectors.Prioritized(0.7),
}
_NUM_ITEMS = 50


def make_table(sampler=reverb.selectors.Fifo, remover=reverb.selectors.Fifo, max_size=1000, **more):
    limiter = reverb.rate_limiters.MinSize(1)
    return reverb.Table("t", sampler(), remover(), max_size, limiter, **more)


def insert(client):
    for i in range(_NUM_ITEMS):
        client.insert([i], {"t": 1.0 + i % 7})


def sampled(table, num_samples=60):
    """The values that are drawn, each on its own."""
    with reverb.Server([table], host="127.0.0.1") as server:
        client = server.localhost_client()
        insert(client)
        samples = client.sample("t", num_samples, max_in_flight_samples=1)
        return [int(step.data[0]) for (step,) in samples]


def kept(table):
    """The values that are left."""
    with reverb.Server([table], host="127.0.0.1") as server:
        client = server.localhost_client()
        insert(client)
        size = table.info.current_size
        return sorted({int(step.data[0]) for (step,) in client.sample("t", 50 * size)})


@pytest.mark.parametrize("selector", _SELECTORS)
def test_samplers(selector):
    first, again, other = (
        sampled(make_table(_SELECTORS[selector], seed=seed)) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other
    assert len(set(first)) > 10


@pytest.mark.parametrize("selector", _SELECTORS)
def test_removers(selector):
    first, again, other = (
        kept(
            make_table(
                remover=_SELECTORS[selector],
                sampler=reverb.selectors.Uniform,
                max_size=20,
                seed=seed,
            )
        )
        for seed in (7, 7, 8)
    )
    assert len(first) == 20
    assert first == again
    assert first != other


def test_sampler_and_remover_choose_independently():
    tables = [
        make_table(reverb.selectors.Uniform, reverb.selectors.Uniform, 20, seed=5) for _ in range(2)
    ]
    assert sampled(tables[0]) == sampled(tables[1])


def test_without_a_seed_runs_differ():
    assert sampled(make_table(reverb.selectors.Uniform)) != sampled(
        make_table(reverb.selectors.Uniform)
    )


def test_replace_keeps_the_seed_or_takes_another():
    table = make_table(reverb.selectors.Uniform, seed=np.uint64(2**64 - 1))
    first = sampled(table.replace())
    assert first == sampled(table) != sampled(table.replace(seed=0))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "x"])
def test_bad_seeds(seed):
    with pytest.raises(TypeError, match="seed"):
        make_table(seed=seed)

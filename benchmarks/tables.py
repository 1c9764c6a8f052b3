"""The tables that the benchmarks use, and the data in them.

Used in the environments of both libraries, so it needs nothing but numpy and the library at hand.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

# Floats an item, by the name of its size. Random, so that they do not compress.
FLOATS = {"400B": 100, "400kB": 100_000}
# Items of the tables that are sampled.
FILLED = {"400B": 20_000, "400kB": 500}
# Floats of each of the variables, by the name of their size.
NUM_WEIGHTS = 20
WEIGHTS = {"10MB": 125_000, "100MB": 1_250_000}
# Different arrays in turn, so that no cache holds just one.
_VARIANTS = 64


def arrays(size: str) -> list[np.ndarray]:
    """Random float32 vectors of the given size, the same ones in every process."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(FLOATS[size], dtype=np.float32) for _ in range(_VARIANTS)]


def weights(size: str) -> list[np.ndarray]:
    """Random float32 vectors of the given size in all, as weights are, the same ones in every process."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(WEIGHTS[size], dtype=np.float32) for _ in range(NUM_WEIGHTS)]


def steps() -> list[dict[str, np.ndarray]]:
    """Steps of 41 bytes in five columns, the same ones in every process."""
    rng = np.random.default_rng(0)
    return [
        {
            "action": np.int64(i % 4),
            "discount": np.float32(1),
            "is_first": np.bool_(i == 0),
            "observation": rng.standard_normal(6, dtype=np.float32),
            "reward": np.float32(rng.standard_normal()),
        }
        for i in range(_VARIANTS)
    ]


def make(reverb: ModuleType) -> list:
    """Two tables to insert into, one of each size to sample from, one to update; and those of variables.

    Args:
      reverb: the library, `reverb_tf` or `reverb`.
    """
    import tensorflow as tf  # Both take signatures as TensorSpecs.

    def table(name: str, sampler, max_size: int, signature):
        return reverb.Table(
            name=name,
            sampler=sampler,
            remover=reverb.selectors.Fifo(),
            max_size=max_size,
            rate_limiter=reverb.rate_limiters.MinSize(1),
            signature=signature,
        )

    def floats(size: str):
        return tf.TensorSpec([1, FLOATS[size]], tf.float32)

    step = {
        name: tf.TensorSpec([1, *value.shape], value.dtype, name)
        for name, value in steps()[0].items()
    }

    uniform = reverb.selectors.Uniform
    tables = [
        table("insert_400B", uniform(), 100_000, floats("400B")),
        table("insert_step", uniform(), 100_000, step),
    ]
    for size in FLOATS:
        tables.append(table(f"sample_{size}", uniform(), FILLED[size], floats(size)))
    prioritized = reverb.selectors.Prioritized(priority_exponent=0.8)
    for size, floats_each in WEIGHTS.items():
        signature = [tf.TensorSpec([floats_each], tf.float32)] * NUM_WEIGHTS
        tables.append(table(f"variables_{size}", uniform(), 1, signature))
    tables.append(table("update_400B", prioritized, FILLED["400B"], floats("400B")))
    # Without a signature: dm-reverb's sample op takes it for that of a step, and `fill` writes sequences.
    tables.append(table("graph_400B", prioritized, FILLED["400B"], None))
    return tables


def fill(client, name: str, size: str) -> None:
    """Inserts `FILLED[size]` items and waits until they are in the table."""
    values = arrays(size)
    writer = client.trajectory_writer(num_keep_alive_refs=1)
    for i in range(FILLED[size]):
        writer.append(values[i % len(values)])
        writer.create_item(name, priority=1.0, trajectory=writer.history[-1:])
        if i % 32 == 31:
            writer.flush()
    writer.end_episode()
    writer.close()

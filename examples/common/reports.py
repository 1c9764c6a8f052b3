"""A table through which actors tell a learner how their episodes went."""

from __future__ import annotations

import numpy as np

import reverb_tf as reverb

EPISODES = "episodes"  # return and length of each finished episode, read once


def episodes_table() -> reverb.Table:
    """The table. Not a `reverb.Table.queue`: a full queue would hold back the actors, a report must not."""
    return reverb.Table(
        name=EPISODES,
        sampler=reverb.selectors.Fifo(),
        remover=reverb.selectors.Fifo(),
        max_size=10_000,
        max_times_sampled=1,
        rate_limiter=reverb.rate_limiters.MinSize(1),
    )


def tell_episode(client: reverb.Client, episode_return: float, length: int) -> None:
    """Tells of one episode."""
    client.insert([np.float32(episode_return), np.int64(length)], {EPISODES: 1.0})


def told_episodes(client: reverb.Client, table: reverb.Table) -> list[tuple[float, int]]:
    """Return and length of each episode that was told of since the last call."""
    waiting = table.info.current_size
    samples = client.sample(EPISODES, num_samples=waiting) if waiting else ()
    return [(float(sample[0].data[0]), int(sample[0].data[1])) for sample in samples]

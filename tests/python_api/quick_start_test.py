"""The quick start of dm-reverb, step by step, with this package in its place."""

import numpy as np

import reverb_tf as reverb


def make_server():
    return reverb.Server(
        tables=[
            reverb.Table(
                name="my_table",
                sampler=reverb.selectors.Uniform(),
                remover=reverb.selectors.Fifo(),
                max_size=100,
                rate_limiter=reverb.rate_limiters.MinSize(1),
            )
        ]
    )


def test_overlapping_trajectories():
    server = make_server()
    client = reverb.Client(f"localhost:{server.port}")
    assert "my_table" in client.server_info()
    with client.trajectory_writer(num_keep_alive_refs=3) as writer:
        for step in range(4):
            writer.append({"a": step, "b": np.full(2, step, np.float32)})
            if step >= 2:
                writer.create_item(
                    table="my_table",
                    priority=1.0,
                    trajectory={"a": writer.history["a"][-3:], "b": writer.history["b"][-3:]},
                )
    seen = set()
    for sample in client.sample("my_table", num_samples=50):
        assert len(sample) == 3
        first = int(sample[0].data[0])
        assert [int(step.data[0]) for step in sample] == [first, first + 1, first + 2]
        np.testing.assert_array_equal(sample[2].data[1], np.full(2, first + 2, np.float32))
        seen.add(first)
    assert seen == {0, 1}
    server.stop()


def test_complete_episodes():
    server = make_server()
    client = server.localhost_client()
    for length in (3, 5):
        with client.trajectory_writer(num_keep_alive_refs=10) as writer:
            for step in range(length):
                writer.append({"a": step, "b": step * 10})
            assert writer.episode_steps == length
            writer.create_item(
                table="my_table",
                priority=1.5,
                trajectory={"a": writer.history["a"][:], "b": writer.history["b"][:]},
            )
            writer.end_episode(timeout_ms=60_000)
    lengths = {len(sample) for sample in client.sample("my_table", num_samples=50)}
    assert lengths == {3, 5}
    server.stop()


def test_single_steps_and_priorities():
    server = make_server()
    client = server.localhost_client()
    client.insert([0, 1], priorities={"my_table": 1.0})
    (sample,) = client.sample("my_table", num_samples=1)
    key = sample[0].info.key
    client.mutate_priorities("my_table", updates={key: 2.5})
    (sample,) = client.sample("my_table", num_samples=1)
    assert sample[0].info.priority == 2.5
    client.mutate_priorities("my_table", deletes=[key])
    assert client.server_info()["my_table"].current_size == 0
    server.stop()

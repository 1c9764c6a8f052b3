import numpy as np

import reverb_tf as reverb
from reverb_tf import replay_sample
from reverb_tf._native import _reverb


def test_fields():
    assert replay_sample.SampleInfo._fields == (
        "key",
        "probability",
        "table_size",
        "priority",
        "times_sampled",
    )
    assert replay_sample.ReplaySample._fields == ("info", "data")
    assert len(replay_sample.SampleInfo._fields) == _reverb.Sampler.NUM_INFO_TENSORS
    assert reverb.SampleInfo is replay_sample.SampleInfo


def test_zeros():
    assert replay_sample.SampleInfo.zeros() == (0, 0.0, 0, 0.0, 0)


def test_get_next_trajectory():
    table = reverb.Table.queue("q", 2)
    with reverb.Server([table]) as server:
        client = server.localhost_client()
        (key,) = client.insert([np.float32(3.0)], {"q": 2.0})
        columns = client._client.NewSampler("q", 1, 1).GetNextTrajectory()
    assert [column.dtype for column in columns] == [
        np.uint64,
        np.float64,
        np.int64,
        np.float64,
        np.int32,
        np.float32,
    ]
    assert [column.tolist() for column in columns] == [key, 1.0, 1, 2.0, 1, [3.0]]

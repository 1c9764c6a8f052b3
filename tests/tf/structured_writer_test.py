"""The structured writer where TensorFlow is in use: its specs, its tensors, and a dataset of the items."""

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from reverb_tf import structured_writer

_STEP = {"a": tf.TensorSpec([2], tf.float32), "td": tf.TensorSpec([], tf.float64)}


def _config():
    ref = structured_writer.create_reference_step(_STEP)
    return structured_writer.create_config(
        {"pair": ref["a"][-2:], "last": ref["a"][-1], "td": ref["td"][-3::2]},
        "items",
        priority=structured_writer.td_error(1.0, _STEP, lambda step: step["td"]),
    )


def test_signatures_are_of_tensorflow():
    assert structured_writer.infer_signature([_config()], _STEP) == {
        "pair": tf.TensorSpec([2, 2], tf.float32, "pair"),
        "last": tf.TensorSpec([2], tf.float32, "last"),
        "td": tf.TensorSpec([2], tf.float64, "td"),
    }


def test_specs_of_both_kinds_describe_the_step():
    ours = {"a": reverb.TensorSpec([2], np.float32), "td": reverb.TensorSpec([], np.float64)}
    assert structured_writer.infer_signature(
        [_config()], ours
    ) == structured_writer.infer_signature([_config()], _STEP)


def test_steps_of_tensors_become_items_of_a_dataset(make_service):
    signature = structured_writer.infer_signature([_config()], _STEP)
    service = make_service(reverb.Table.queue("items", 10, signature=signature))
    with reverb.Client(service.address).structured_writer([_config()]) as writer:
        for i in range(4):
            writer.append(
                {"a": tf.constant([i, -i], tf.float32), "td": tf.constant(float(i), tf.float64)}
            )
    dataset = reverb.TrajectoryDataset.from_table_signature(service.address, "items", 1)
    for i, sample in enumerate(dataset.take(2)):
        assert sample.data["pair"].numpy().tolist() == [[i + 1, -i - 1], [i + 2, -i - 2]]
        assert sample.data["last"].numpy().tolist() == [i + 2, -i - 2]
        assert sample.data["td"].numpy().tolist() == [i, i + 2]
        assert sample.info.priority.numpy() == i + 2

"""Shape functions and properties of the registered ops."""

import pytest
import tensorflow as tf

from reverb_tf._tf import op_library

v1 = tf.compat.v1


@pytest.fixture
def ops():
    return op_library.ops()


@pytest.fixture
def handle(graph, ops):
    return ops.reverb_client(server_address="localhost:1")


def test_client(handle):
    assert handle.dtype == tf.resource
    assert handle.shape == []


def test_sample_outputs(handle, ops):
    outputs = ops.reverb_client_sample(
        handle=handle, table="t", Toutput_list=[tf.float32, tf.string]
    )
    for value, dtype in zip(
        outputs[:5], (tf.uint64, tf.float64, tf.int64, tf.float64, tf.int32), strict=True
    ):
        assert value.shape == []
        assert value.dtype == dtype
    assert [o.shape.rank for o in outputs.outputs] == [None, None]
    assert [o.dtype for o in outputs.outputs] == [tf.float32, tf.string]


def test_sample_output_shapes(handle, ops):
    outputs = ops.reverb_client_sample(
        handle=handle,
        table="t",
        Toutput_list=[tf.float32, tf.string, tf.int32],
        output_shapes=[[2, None], [], None],
    ).outputs
    assert outputs[0].shape.as_list() == [2, None]
    assert outputs[1].shape == []
    assert outputs[2].shape.rank is None
    with pytest.raises(ValueError, match="output_shapes has 1"):
        ops.reverb_client_sample(
            handle=handle, table="t", Toutput_list=[tf.float32] * 2, output_shapes=[[]]
        )


def test_sample_inputs(handle, ops):
    with pytest.raises(ValueError, match=r"table must be one name, got shape \[0\]"):
        ops.reverb_client_sample(
            handle=handle, table=tf.constant([], tf.string), Toutput_list=[tf.float32]
        )
    for table in (["t"], v1.placeholder(tf.string)):
        ops.reverb_client_sample(handle=handle, table=table, Toutput_list=[tf.float32])


def insert(ops, handle, tables, priorities):
    return ops.reverb_client_insert(
        handle=handle, data=[1, "a"], tables=tables, priorities=priorities
    )


def test_insert_inputs(handle, ops):
    one = tf.constant([1.0], tf.float64)
    insert(ops, handle, ["t"], one)
    insert(ops, handle, v1.placeholder(tf.string), one)
    insert(ops, handle, v1.placeholder(tf.string, [None]), one)
    with pytest.raises(ValueError, match="must be rank 1"):
        insert(ops, handle, "t", one)
    with pytest.raises(ValueError, match="must be rank 1"):
        insert(ops, handle, ["t"], tf.constant(1.0, tf.float64))
    with pytest.raises(ValueError, match="must be equal"):
        insert(ops, handle, ["t", "u"], one)


def test_update_priorities_inputs(handle, ops):
    def update(table, keys, priorities):
        return ops.reverb_client_update_priorities(
            handle=handle,
            table=table,
            keys=tf.constant(keys, tf.uint64),
            priorities=tf.constant(priorities, tf.float64),
        )

    update("t", [1], [1.0])
    update(["t"], [1], [1.0])
    # Checked when it runs, as by dm-reverb.
    update("t", [1, 2], [1.0])
    update("t", 1, 1.0)
    update("t", [1], [[1.0]])
    with pytest.raises(ValueError, match=r"table must be one name, got shape \[2\]"):
        update(["t", "u"], [1], [1.0])


def test_sample_batch(handle, ops):
    def sample(num_samples, table="t", **attributes):
        return ops.reverb_client_sample_batch(
            handle=handle,
            table=table,
            num_samples=num_samples,
            Toutput_list=[tf.float32, tf.string],
            **attributes,
        )

    known = sample(3, output_shapes=[[2, None], None])
    assert [value.shape.as_list() for value in known[:5]] == [[3]] * 5
    assert known.outputs[0].shape.as_list() == [3, 2, None]
    assert known.outputs[1].shape.rank is None
    unknown = sample(v1.placeholder(tf.int64), output_shapes=[[], [1]])
    assert unknown.key.shape.as_list() == [None]
    assert [value.shape.as_list() for value in unknown.outputs] == [[None], [None, 1]]
    one = sample(1, output_shapes=[[], [1]], batched=False)
    assert one.key.shape == []
    assert [value.shape for value in one.outputs] == [[], [1]]
    for arguments, text in (
        ({"num_samples": [1]}, "must be rank 0"),
        ({"num_samples": 1, "table": ["t"]}, "must be rank 0"),
        ({"num_samples": 1, "output_shapes": [[]]}, "output_shapes has 1"),
    ):
        with pytest.raises(ValueError, match=text):
            sample(**arguments)


def test_insert_batch(handle, ops):
    def insert_batch(data, priorities, table="t"):
        return ops.reverb_client_insert_batch(
            handle=handle, data=data, table=table, priorities=priorities
        )

    two = tf.ones([2], tf.float64)
    unknown = v1.placeholder(tf.float64)
    assert insert_batch([[[1], [2]], ["a", "b"]], two).shape == [2]
    assert insert_batch([[1, 2]], unknown).shape == [2]
    assert insert_batch([unknown], unknown).shape.as_list() == [None]
    assert insert_batch([unknown], two).dtype == tf.uint64
    for data, priorities, table, text in (
        ([[1, 2, 3]], two, "t", "must be equal"),
        ([[1, 2], [1]], unknown, "t", "must be equal"),
        ([1], two, "t", "at least rank 1"),
        ([[1, 2]], two, ["t"], "must be rank 0"),
        ([[1, 2]], tf.ones([], tf.float64), "t", "must be rank 1"),
    ):
        with pytest.raises(ValueError, match=text):
            insert_batch(data, priorities, table)


def test_delete(handle, ops):
    deleted = ops.reverb_client_delete(handle=handle, table="t", keys=[1, 2])
    assert deleted.shape == []
    assert deleted.dtype == tf.int64
    with pytest.raises(ValueError, match="must be rank 1"):
        ops.reverb_client_delete(handle=handle, table="t", keys=tf.constant(1, tf.uint64))
    with pytest.raises(ValueError, match="must be rank 0"):
        ops.reverb_client_delete(handle=handle, table=["t"], keys=[1])


@pytest.mark.parametrize("name", ["reverb_timestep_dataset", "reverb_trajectory_dataset"])
def test_dataset(graph, ops, name):
    def make(server_address):
        return getattr(ops, name)(
            server_address=server_address, table="t", dtypes=[tf.int32], shapes=[[]]
        )

    dataset = make("localhost:1")
    assert dataset.dtype == tf.variant
    assert dataset.shape == []
    with pytest.raises(ValueError, match="must be rank 0"):
        make(["localhost:1"])


def test_all_ops_are_stateful_and_documented(graph, ops):
    handle = ops.reverb_client(server_address="localhost:1")
    sample = ops.reverb_client_sample(handle=handle, table="t", Toutput_list=[])
    insert_op = insert(ops, handle, ["t"], tf.constant([1.0], tf.float64))
    update = ops.reverb_client_update_priorities(
        handle=handle, table="t", keys=[], priorities=tf.constant([], tf.float64)
    )
    batch = ops.reverb_client_sample_batch(handle=handle, table="t", num_samples=1, Toutput_list=[])
    keys = ops.reverb_client_insert_batch(
        handle=handle, table="t", data=[[1]], priorities=tf.constant([1.0], tf.float64)
    )
    deleted = ops.reverb_client_delete(handle=handle, table="t", keys=keys)
    datasets = [
        wrapper(server_address="localhost:1", table="t", dtypes=[tf.int32], shapes=[[]])
        for wrapper in (ops.reverb_timestep_dataset, ops.reverb_trajectory_dataset)
    ]
    values = [handle, sample.key, batch.key, keys, deleted, *datasets]
    for op in (insert_op, update, *(value.op for value in values)):
        assert op.op_def.is_stateful
    for wrapper in (
        ops.reverb_client,
        ops.reverb_client_sample,
        ops.reverb_client_insert,
        ops.reverb_client_update_priorities,
        ops.reverb_client_sample_batch,
        ops.reverb_client_insert_batch,
        ops.reverb_client_delete,
        ops.reverb_timestep_dataset,
        ops.reverb_trajectory_dataset,
    ):
        assert len(wrapper.__doc__) > 100


def push(ops, handle, values, shapes, table="t"):
    return ops.reverb_variable_push(handle=handle, table=table, values=values, shapes=shapes)


def test_variable_push_inputs(handle, ops):
    unknown = v1.placeholder(tf.float32)
    push(ops, handle, [unknown, 1], [[2], []])
    push(ops, handle, [v1.placeholder(tf.float32, [None, 2])], [[3, None]])
    with pytest.raises(ValueError, match="shapes has 1 entries; expected one for each of the 2"):
        push(ops, handle, [1, 2], [[]])
    with pytest.raises(ValueError, match="must be equal"):
        push(ops, handle, [[1.0, 2.0]], [[3]])
    with pytest.raises(ValueError, match="must be rank 0"):
        push(ops, handle, [1], [[]], ["t"])
    assert push(ops, handle, [1], [[]]).op_def.is_stateful


def test_variable_pull_outputs(handle, ops):
    def pull(shapes, timeout_ms=-1, dtypes=(tf.float32, tf.string)):
        return ops.reverb_variable_pull(
            handle=handle,
            table="t",
            min_version=0,
            timeout_ms=timeout_ms,
            Toutput_list=list(dtypes),
            output_shapes=shapes,
        )

    version, values = pull([[2, None], None])
    assert version.shape == []
    assert version.dtype == tf.int64
    assert values[0].shape.as_list() == [2, None]
    assert values[1].shape.rank is None
    assert [value.dtype for value in values] == [tf.float32, tf.string]
    with pytest.raises(ValueError, match="output_shapes has 1 entries; expected one for each of"):
        pull([[]])
    with pytest.raises(ValueError, match="must be rank 0"):
        pull([[], []], timeout_ms=[1])


def test_variable_pull_if_newer_outputs(handle, ops):
    def pull(defaults, shapes=((2, None), None)):
        return ops.reverb_variable_pull_if_newer(
            handle=handle,
            table="t",
            version=0,
            defaults=defaults,
            Toutput_list=[tf.float32, tf.string],
            output_shapes=shapes,
        )

    for defaults in ([], [tf.zeros([2, 3]), "a"]):
        version, is_newer, values = pull(defaults)
        assert (version.shape, version.dtype) == ([], tf.int64)
        assert (is_newer.shape, is_newer.dtype) == ([], tf.bool)
        assert values[0].shape.as_list() == [2, None]
        assert values[1].shape.rank is None
    for defaults, text in (
        (["a"], "There are 1 defaults; expected none or one for each of the 2"),
        (["a", tf.zeros([2, 3])], "The defaults have the types"),
        ([tf.zeros([3, 3]), "a"], "must be equal"),
    ):
        with pytest.raises(ValueError, match=text):
            pull(defaults)


def test_variable_ops_are_stateful_and_documented(handle, ops):
    pulled = {"Toutput_list": [tf.float32], "output_shapes": [[]]}
    made = (
        push(ops, handle, [1], [[]]),
        ops.reverb_variable_pull(
            handle=handle, table="t", min_version=0, timeout_ms=-1, **pulled
        ).version.op,
        ops.reverb_variable_pull_if_newer(
            handle=handle, table="t", version=0, defaults=[], **pulled
        ).is_newer.op,
    )
    assert all(op.op_def.is_stateful for op in made)
    for wrapper in (
        ops.reverb_variable_pull,
        ops.reverb_variable_pull_if_newer,
        ops.reverb_variable_push,
    ):
        assert len(wrapper.__doc__) > 100


@pytest.fixture
def writer(graph, ops):
    return ops.reverb_trajectory_writer(
        server_address="localhost:1",
        dtypes=[tf.float32],
        shapes=[[]],
        paths=["x"],
        batch_size=2,
        num_keep_alive_refs=1,
    )


def test_writer_append_inputs(writer, handle, ops):
    def append(mask, data, order=()):
        return ops.reverb_trajectory_writer_append(
            handle=writer, order=[*order], mask=mask, data=data, columns=list(range(len(data)))
        )

    assert writer.shape == []
    unknown = v1.placeholder(tf.float32)
    append(True, [[1.0], 2.0], order=[handle])
    append([True, False], [[1.0, 2.0], unknown])
    append(v1.placeholder(tf.bool), [1.0])
    for mask, data, text in (
        ([[True]], [unknown], "at most rank 1"),
        ([True, False], [1.0], "at least rank 1"),
        ([True, False], [[1.0]], "must be equal"),
    ):
        with pytest.raises(ValueError, match=text):
            append(mask, data)
    assert append(True, [1.0]).op_def.is_stateful


def test_writer_create_item(writer, ops):
    def create(mask=True, table="t", priority=1.0, starts=(0,), stops=(1,)):
        return ops.reverb_trajectory_writer_create_item(
            handle=writer,
            order=[],
            mask=mask,
            table=table,
            priority=tf.constant(priority, tf.float64),
            starts=[*starts],
            stops=[*stops],
            columns=[0],
            squeeze=[False],
        )

    assert create().shape == []
    assert create(mask=[True, True], priority=[1.0, 2.0], table=["a", "b"]).shape == [2]
    assert create(mask=v1.placeholder(tf.bool, [None])).shape.as_list() == [None]
    for wrong, text in (
        ({"table": ["a", "b"]}, "must be equal rank"),
        ({"mask": [True, False], "priority": [1.0]}, "must be equal"),
        ({"priority": [[1.0]]}, "at most rank 1"),
        ({"starts": (0, 1)}, "must be equal"),
        ({"stops": ()}, "must be equal"),
    ):
        with pytest.raises(ValueError, match=text):
            create(**wrong)
    assert create().op.op_def.is_stateful


def test_writer_episode_ops(writer, handle, ops):
    assert ops.reverb_trajectory_writer_flush(handle=writer, order=[handle]).op_def.is_stateful
    assert ops.reverb_trajectory_writer_close(handle=writer, order=[]).op_def.is_stateful
    end = ops.reverb_trajectory_writer_end_episode
    assert end(handle=writer, order=[], mask=[True, False]).op_def.is_stateful
    with pytest.raises(ValueError, match="at most rank 1"):
        end(handle=writer, order=[], mask=[[True]])
    with pytest.raises(ValueError, match="-1 is less than minimum 0|less than"):
        ops.reverb_trajectory_writer_flush(handle=writer, order=[], max_pending=-1)
    for wrapper in (
        ops.reverb_trajectory_writer,
        ops.reverb_trajectory_writer_append,
        ops.reverb_trajectory_writer_create_item,
        ops.reverb_trajectory_writer_end_episode,
        ops.reverb_trajectory_writer_flush,
        ops.reverb_trajectory_writer_close,
    ):
        assert len(wrapper.__doc__) > 100

"""TFTrajectoryWriter: what it refuses, when a call is written and when its op runs."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from reverb_tf.cc.ops import gen_reverb_ops
from tests.tf.support import contents, uniform_table

SPEC = {"x": tf.TensorSpec([], tf.int64), "in": {"y": tf.TensorSpec([2], tf.float32)}}


@pytest.fixture
def service(make_service):
    return make_service(
        reverb.Table.queue("dist", 100),
        uniform_table("prioritized", sampler=reverb.selectors.Prioritized(1.0)),
        uniform_table("signature", signature={"x": tf.TensorSpec([2], tf.int64)}),
    )


@pytest.fixture
def writer(service):
    return reverb.TFTrajectoryWriter(service.address, SPEC, 3)


@pytest.fixture
def batched(service):
    return reverb.TFTrajectoryWriter(service.address, SPEC, 3, batch_size=2)


def step(x=1, y=(1.0, 2.0)):
    return {"x": x, "in": {"y": y}}


# When the call is written.


@pytest.mark.parametrize(
    ("changed", "error", "text"),
    [
        ({"num_keep_alive_refs": 0}, ValueError, "num_keep_alive_refs must be >= 1, got 0"),
        ({"num_keep_alive_refs": 1.5}, TypeError, "num_keep_alive_refs"),
        ({"batch_size": 0}, ValueError, "batch_size must be >= 1, got 0"),
        ({"max_chunk_length": 4}, ValueError, r"max_chunk_length \(4\)"),
        ({"max_chunk_length": 0}, ValueError, "max_chunk_length"),
        ({"patience": -1.0}, ValueError, "patience must be >= 0"),
        ({"patience": float("nan")}, ValueError, "patience must be >= 0"),
        ({"spec": {}}, ValueError, "no TensorSpecs"),
        ({"spec": {"a": tf.float32}}, TypeError, "'a'"),
    ],
)
def test_construction(changed, error, text):
    arguments = {"spec": SPEC, "num_keep_alive_refs": 3, **changed}
    with pytest.raises(error, match=text):
        reverb.TFTrajectoryWriter("localhost:1", **arguments)


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (step(x=1.5), ["'x'", "1.5", r"(int64, ())"]),
        (step(x=np.float32(1)), ["'x'", "(float32, ())", "(int64, ())"]),
        (step(x=np.int32(1)), ["'x'", "(int32, ())", "(int64, ())"]),
        (step(y=[1.0]), ["'in/y'", "(float32, (1,))", "(float32, (2,))"]),
        (step(y=tf.zeros([2, 2])), ["'in/y'", "(float32, (2, 2))"]),
        ({"x": 1, "z": 2}, ["'z'", "'in'", "'x'"]),
        ({"x": 1, "in": 3.0}, ["a dict at 'in'"]),
        (3, ["a dict at ''"]),
    ],
)
def test_append(writer, data, texts):
    with pytest.raises(ValueError) as error:
        writer.append(data)
    for text in texts:
        assert text in str(error.value)


def test_append_to_environments(batched):
    with pytest.raises(ValueError, match=r"'in/y'.*\(2,\).*\(2, 2\).*environments"):
        batched.append(step(x=[1, 2], y=[1.0, 2.0]))
    with pytest.raises(ValueError, match=r"'x'.*\(3,\).*\(2,\)"):
        batched.append({"x": [1, 2, 3]})


def test_containers(service):
    writer = reverb.TFTrajectoryWriter(service.address, [SPEC["x"], SPEC["x"]], 1)
    with pytest.raises(ValueError, match="list or tuple of 2 at ''"):
        writer.append([1])


@pytest.mark.parametrize("mask", [1, [True, False], [[True]]])
def test_masks(writer, batched, mask):
    with pytest.raises(ValueError, match=r"mask must be a bool tensor of shape \[\]"):
        writer.append(step(), mask=mask)
    with pytest.raises(ValueError, match=r"mask must be a bool tensor of shape \[2\]"):
        batched.end_episode(mask=[True, False, True])


def test_create_item_arguments(writer, batched):
    x = writer.history["x"]
    for arguments in ({}, {"trajectory": [x[-1]], "num_timesteps": 1}):
        with pytest.raises(ValueError, match="either a trajectory or num_timesteps"):
            writer.create_item("dist", 1.0, **arguments)
    with pytest.raises(ValueError, match="empty"):
        writer.create_item("dist", 1.0, {})
    with pytest.raises(TypeError, match="slices of the writer's history"):
        writer.create_item("dist", 1.0, [x])
    with pytest.raises(ValueError, match="'x' of another writer"):
        batched.create_item("dist", 1.0, [x[-1]])
    with pytest.raises(ValueError, match=r"num_timesteps \(4\) must be <="):
        writer.create_item("dist", 1.0, num_timesteps=4)
    with pytest.raises(ValueError, match="num_timesteps must be >= 1"):
        writer.create_item("dist", 1.0, num_timesteps=0)
    with pytest.raises(TypeError, match="num_timesteps must be an integer, got float32"):
        writer.create_item("dist", 1.0, num_timesteps=tf.constant(1.0))
    with pytest.raises(ValueError, match="priority must be a float64 tensor of shape"):
        writer.create_item("dist", tf.constant(1.0), num_timesteps=1)
    with pytest.raises(
        ValueError, match=r"shape \(\) or \(2,\), got dtype float64 and shape \(3,\)"
    ):
        batched.create_item("dist", [1.0, 2.0, 3.0], num_timesteps=1)
    with pytest.raises(ValueError, match="table must be a string tensor"):
        writer.create_item(tf.constant(["dist"]), 1.0, num_timesteps=1)
    with pytest.raises(ValueError, match="block_until_num_items must be >= 0"):
        writer.flush(-1)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (slice(None, None, 2), ValueError),
        (slice(2, 2), ValueError),
        (slice(-1, -2), ValueError),
        (1.5, TypeError),
        (None, TypeError),
        ([0, 1], TypeError),
        (tf.constant(1.0), TypeError),
        (tf.constant([1]), ValueError),
    ],
)
def test_slices(writer, index, error):
    with pytest.raises(error, match="column 'x'"):
        writer.history["x"][index]


# When the op runs.


def test_shapes_that_are_known_only_then(service, batched):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.bool)])
    def append(y, mask):
        batched.append({"in": {"y": y}}, mask=mask)

    append(tf.zeros([2, 2]), [True, True])
    for shape in ([2], [3, 2], [2, 3], [2, 2, 1], []):
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            append(tf.zeros(shape), [True, True])
        shown = "[" + ",".join(map(str, shape)) + "]"
        for text in ("'in/y'", f"(float, {shown})", "(float, [2,2])"):
            assert text in str(error.value)
    for mask in ([True], True, [[True, True]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"mask|rank"):
            append(tf.zeros([2, 2]), mask)
    # Nothing was appended by those.
    key = batched.create_item("dist", 1.0, [batched.history["in"]["y"][:]])
    batched.flush()
    assert [item[0].shape for item in contents(service, "dist")] == [(1, 2), (1, 2)]
    assert 0 not in key.numpy()


def test_a_column_set_twice(service, batched):
    batched.append({"x": [1, 2]}, partial_step=True, mask=[False, True])
    with pytest.raises(tf.errors.FailedPreconditionError, match="Environment 1: Column 'x'"):
        batched.append({"x": [3, 4]})
    batched.append({"in": {"y": [[1.0, 1.0]] * 2}}, mask=[False, True])
    batched.create_item("dist", 1.0, num_timesteps=1, skip_short=True)
    batched.flush()
    # Of the environment that has no steps there is no item.
    assert [item[1].tolist() for item in contents(service, "dist")] == [[2]]


def test_steps_that_are_not_there(writer, batched):
    writer.append(step())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'dist'.*\[-2:\].*has 1 steps"):
        writer.create_item("dist", 1.0, num_timesteps=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1\] of column 'x'"):
        writer.create_item("dist", 1.0, [writer.history["x"][1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1:\] of column 'x'"):
        writer.create_item("dist", 1.0, [writer.history["x"][1:]])
    for _ in range(3):
        writer.append({"x": 1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Step 1 of column 'in/y'.*not set"):
        writer.create_item("dist", 1.0, num_timesteps=3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Step 0.*older than the 3 steps"):
        writer.create_item("dist", 1.0, [writer.history["x"][:]])
    batched.append({"x": [1, 2]}, mask=[True, False])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Environment 1: .*has 0 steps"):
        batched.create_item("dist", 1.0, [batched.history["x"][-1]])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="num_timesteps|has 1 steps|steps so far"
    ):
        batched.create_item("dist", 1.0, num_timesteps=tf.constant(2))


def test_numbers_of_steps_that_are_known_only_then(service, writer):
    @tf.function
    def create(count):
        return writer.create_item("dist", 1.0, num_timesteps=count)

    for _ in range(3):
        writer.append(step())
    for count in (tf.constant(0), tf.constant(-1, tf.int64)):
        for call in (create, lambda n: writer.create_item("dist", 1.0, num_timesteps=n)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="num_timesteps must be >= 1"):
                call(count)
    create(tf.constant(2, tf.uint8))
    writer.flush()
    assert [len(item[1]) for item in contents(service, "dist")] == [2]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=lambda dtype: dtype.name)
def test_a_number_of_steps_that_is_refused_makes_no_item_of_a_v1_graph(service, graph, dtype):
    writer = reverb.TFTrajectoryWriter(service.address, {"x": tf.TensorSpec([], tf.int64)}, 3)
    count = tf.compat.v1.placeholder(dtype, [])
    append = writer.append({"x": tf.constant(1, tf.int64)})
    keys = writer.create_item("dist", 1.0, num_timesteps=count)
    flush = writer.flush()
    with tf.compat.v1.Session() as session:
        for _ in range(2):
            session.run(append)
        for number in (0, -1):
            with pytest.raises(tf.errors.InvalidArgumentError, match="num_timesteps must be >= 1"):
                session.run(keys, {count: number})
        session.run(flush)
    assert contents(service, "dist") == []


def test_unknown_table(service, batched):
    batched.append({"x": [1, 2]})
    x = [batched.history["x"][-1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Environment 1: .*'missing'.*'dist'"):
        batched.create_item(["dist", "missing"], 1.0, x)
    batched.create_item("dist", 1.0, x)
    batched.flush()
    # That the first environment's table exists did not help it.
    assert service.client.server_info(timeout=10)["dist"].current_size == 2


def test_signature(writer):
    writer.append(step())
    x = writer.history["x"]
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        writer.create_item("signature", 1.0, {"x": x[-1:]})
    for text in ("'signature'", "column 0", "'x'", "(int64, [1])", "(int64, [2])"):
        assert text in str(error.value)
    writer.append(step())
    assert writer.create_item("signature", 1.0, {"x": x[-2:]}) != 0
    writer.flush()


def test_without_validation_the_server_refuses(service):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 3, validate_items=False)
    writer.append(step())
    writer.create_item("missing", 1.0, num_timesteps=1)
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        writer.flush()
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        writer.append(step())


@pytest.mark.parametrize("priority", [float("nan"), -1.0, float("inf")])
def test_priorities(service, batched, priority):
    batched.append({"x": [1, 2]})
    x = [batched.history["x"][-1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Environment 1: .*priority|Priority"):
        batched.create_item("prioritized", [1.0, priority], x)
    batched.create_item("prioritized", 1.0, x)
    batched.flush()


def test_the_op_checks_what_python_checks():
    """The ops can be used without the class."""
    ops = gen_reverb_ops
    options = {"server_address": "localhost:1", "dtypes": [tf.int64], "shapes": [[]]}
    for wrong in ({"paths": ["a", "b"]}, {"batch_size": 0}, {"num_keep_alive_refs": 0}):
        arguments = {**options, "paths": ["a"], "num_keep_alive_refs": 1, **wrong}
        with pytest.raises(tf.errors.InvalidArgumentError):
            ops.reverb_trajectory_writer(**arguments)
    handle = ops.reverb_trajectory_writer(**options, paths=["'a'"], num_keep_alive_refs=1)

    def append(**changed):
        arguments = {"mask": True, "data": [tf.constant(1, tf.int64)], "columns": [0], **changed}
        ops.reverb_trajectory_writer_append(handle=handle, order=[], **arguments)

    append()
    for wrong in ({"columns": [1]}, {"columns": []}, {"data": [tf.constant(1.0)]}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="[Cc]olumn"):
            append(**wrong)

    def create(**changed):
        arguments = {
            "mask": True,
            "table": "t",
            "priority": tf.constant(1.0, tf.float64),
            **changed,
        }
        arguments = {"starts": [-1], "stops": [0], "columns": [0], "squeeze": [True], **arguments}
        ops.reverb_trajectory_writer_create_item(handle=handle, order=[], **arguments)

    for wrong in (
        {"columns": [1]},
        {"columns": [0, 0]},
        {"starts": [0, 0]},
        {"table": ["t"]},
        {"short_episode": "never"},
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            create(**wrong)

"""Resources of Python objects that are collected at any moment."""

import gc

import pytest
import tensorflow as tf

import reverb_tf as reverb


def _assert_destroyed(handle):
    with pytest.raises(tf.errors.NotFoundError):
        tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=False)


def test_a_client_that_is_collected_during_tracing_leaves_no_op_in_the_graph():
    handles = []

    @tf.function
    def run(x):
        for client in clients:
            handles.append(client.handle)
        clients.clear()
        del client
        gc.collect()
        return x + 1

    clients = [reverb.TFClient("localhost:1")]
    graph = run.get_concrete_function(tf.constant(1)).graph
    assert not [op.type for op in graph.get_operations() if "Destroy" in op.type]
    _assert_destroyed(handles[0])


def test_a_client_that_is_collected_under_a_v1_graph_is_destroyed():
    client = reverb.TFClient("localhost:1")
    handle = client.handle
    with tf.Graph().as_default() as graph:
        del client
        gc.collect()
        assert not graph.get_operations()
    _assert_destroyed(handle)

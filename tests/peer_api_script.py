"""Calls of the Python API, each with its outcome. Run with dm-reverb and with this package in its place.

Prints one line for each call: a JSON list of its name and what came of it. What ends or hangs the process of dm-reverb
(a negative priority, None for a selector, ...) is not called.
"""

import collections  # noqa: F401 (for the expressions)
import json
import pickle
from typing import Any

import numpy as np
import reverb
import tensorflow as tf
import tree
from reverb import client as client_lib
from reverb import errors, pybind, rate_limiters, replay_sample, reverb_types, selectors
from reverb.cc import schema_pb2
from reverb.cc.checkpointing import checkpoint_pb2
from reverb.platform import checkpointers_lib
from reverb.server_executable import server_from_proto

_SPEC = tf.TensorSpec([], tf.float32)


def probe(name: str, call: Any) -> None:
    try:
        outcome = repr(call())
    except Exception as e:
        builtin = {c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"}
        kinds = builtin - {"object", "BaseException", "Exception", "OSError", "TimeoutError"}
        if isinstance(e, errors.DeadlineExceededError):
            kinds = {"DeadlineExceededError"}
        outcome = "raises " + " ".join(sorted(kinds))
    print(json.dumps([name, outcome]))


def make_table(**settings: Any) -> Any:
    given = {
        "name": "t",
        "sampler": selectors.Uniform(),
        "remover": selectors.Fifo(),
        "max_size": 10,
    }
    given["rate_limiter"] = rate_limiters.MinSize(1)
    return reverb.Table(**{**given, **settings})


def options(proto: Any) -> Any:
    kind = proto.WhichOneof("distribution")
    value = getattr(proto, kind)
    if kind == "heap":
        value = value.min_heap
    if kind == "prioritized":
        value = value.priority_exponent
    return kind, value, proto.is_deterministic


def summary(table: Any) -> Any:
    info = table.info
    limiter = info.rate_limiter_info
    numbers = (
        limiter.samples_per_insert,
        limiter.min_size_to_sample,
        limiter.min_diff,
        limiter.max_diff,
    )
    counts = (
        info.current_size,
        info.num_episodes,
        info.num_deleted_episodes,
        info.num_unique_samples,
    )
    chosen = options(info.sampler_options), options(info.remover_options)
    return info.name, chosen, info.max_size, info.max_times_sampled, numbers, info.signature, counts


def numbers_of(limiter: Any) -> Any:
    return (
        limiter._samples_per_insert,
        limiter._min_size_to_sample,
        limiter._min_diff,
        limiter._max_diff,
    )


def selector_probes() -> None:
    for text in (
        "Fifo() Lifo() Uniform() MinHeap() MaxHeap() Prioritized(0.8) Prioritized(1) Prioritized(-1.5) Prioritized() "
        "Prioritized('1') Prioritized(None) Prioritized(1e-7) Prioritized(123456789.0)"
    ).split():
        probe(text, lambda text=text: eval("selectors." + text))
    probe("HeapSelector", lambda: (pybind.HeapSelector(True), pybind.HeapSelector(min_heap=False)))
    probe("heap class", lambda: isinstance(selectors.MinHeap(), pybind.HeapSelector))
    probe("base class", lambda: isinstance(selectors.Fifo(), pybind.ItemSelector))
    for text in (
        "fifo=True",
        "fifo=False",
        "uniform=False",
        "lifo=True",
        "heap=dict(min_heap=True)",
        "heap={}",
        "prioritized=dict(priority_exponent=0.5)",
        "",
    ):
        message = eval(f"schema_pb2.KeyDistributionOptions({text})")
        probe(f"of proto {text}", lambda m=message: server_from_proto.selector_from_proto(m))
    message = schema_pb2.KeyDistributionOptions(lifo=True).SerializeToString()
    probe("of bytes", lambda: pybind.selector_from_proto(message))


def limiter_probes() -> None:
    for text in (
        "MinSize(3)|MinSize(0)|MinSize(1.5)|SampleToInsertRatio(1.5, 2, 4.)|SampleToInsertRatio(1.5, 2, 4)|"
        "SampleToInsertRatio(1.5, 2, (1., 7.))|SampleToInsertRatio(1.5, 2, [1., 7.])|SampleToInsertRatio(0, 2, 4.)|"
        "SampleToInsertRatio(1, 10, (9., 10.5))|SampleToInsertRatio(1, 10, (11., 20.))|SampleToInsertRatio(1, 0, 5.)|"
        "SampleToInsertRatio(1, 10, (1., 5.))|SampleToInsertRatio(1, 1, (1, 2, 3))|SampleToInsertRatio(1, 1, None)|"
        "Queue(3)|Stack(4)|RateLimiter(1., 2, 0., 3.)|RateLimiter(1, 2, 0, 3)|RateLimiter(1., 2.5, 0, 3)|"
        "RateLimiter('a', 2, 0, 3)|RateLimiter(samples_per_insert=1., min_size_to_sample=2, min_diff=0., max_diff=3.)"
    ).split("|"):
        probe(text, lambda text=text: numbers_of(eval("rate_limiters." + text)))
    message = checkpoint_pb2.RateLimiterCheckpoint(
        samples_per_insert=1.0, min_size_to_sample=2, min_diff=-1, max_diff=4
    )
    probe(
        "limiter of proto", lambda: numbers_of(server_from_proto.rate_limiter_from_proto(message))
    )


def table_probes() -> None:
    for text in (
        "{}|{'name': ''}|{'name': None}|{'name': 3}|{'max_size': 0}|{'max_size': -1}|{'max_size': 2**31}|"
        "{'max_size': 2.5}|{'max_size': np.int64(5)}|{'max_times_sampled': 2.5}|{'max_times_sampled': -1}|"
        "{'max_times_sampled': 2**31}|{'signature': {}}|{'signature': []}|{'signature': 3}|{'signature': {'a': 3}}|"
        "{'signature': {'a': _SPEC, 'b': None}}|{'signature': {'b': _SPEC, 'a': [_SPEC]}}|{'signature': (_SPEC,)}|"
        "{'signature': tf.TensorSpec([None, 2], tf.string, 'x')}|{'signature': tf.RaggedTensorSpec([None, None])}|"
        "{'extensions': [3]}|{'extensions': None}|{'rate_limiter': rate_limiters.SampleToInsertRatio(1.5, 2, 4.)}"
    ).split("|"):
        probe(f"Table {text}", lambda text=text: summary(make_table(**eval(text))))
    for selector in "Fifo() Lifo() Uniform() Prioritized(.5) MinHeap() MaxHeap()".split():
        sampler = eval("selectors." + selector)
        probe(
            f"sampler {selector}",
            lambda s=sampler: options(make_table(sampler=s).info.sampler_options),
        )
    base = make_table(
        sampler=selectors.Prioritized(0.5),
        remover=selectors.MinHeap(),
        max_times_sampled=3,
        signature={"a": _SPEC},
    )
    for text in (
        "{}|{'name': 'u'}|{'name': ''}|{'max_size': 5}|{'max_size': 0}|{'max_times_sampled': 0}|"
        "{'sampler': selectors.Fifo()}|{'rate_limiter': rate_limiters.MinSize(5)}|{'signature': {}}|{'extensions': ()}|"
        "{'signature': tf.TensorSpec([2], tf.int32)}"
    ).split("|"):
        probe(f"replace {text}", lambda text=text: summary(base.replace(**eval(text))))
    probe("queue", lambda: summary(reverb.Table.queue("q", 3)))
    probe("queue of 0", lambda: summary(reverb.Table.queue("q", 0)))
    probe("stack", lambda: summary(reverb.Table.stack("q", 3, signature=_SPEC)))
    limiter = rate_limiters.RateLimiter(1.0, 2, -5.0, 6.0)
    probe("can_sample", lambda: make_table(rate_limiter=limiter).can_sample(1))
    probe("can_insert", lambda: [reverb.Table.queue("q", 2).can_insert(n) for n in (1, 2, 3)])
    probe("can_sample text", lambda: make_table().can_sample("x"))
    probe("can_sample float", lambda: make_table().can_sample(1.5))


def server_probes() -> None:
    for text in "None|[]|[make_table(), make_table()]|[3]".split("|"):
        probe(f"Server of {text}", lambda text=text: reverb.Server(tables=eval(text)))
    probe("negative port", lambda: reverb.Server(tables=[make_table()], port=-1))
    server = reverb.Server(tables=[make_table()])
    probe("port", lambda: type(server.port))
    server.stop()
    server.stop()
    probe("wait after stop", server.wait)


def describe(nest: Any) -> Any:
    return [(str(a.dtype), a.shape, a.tolist()) for a in tree.flatten(nest)]


def round_trip(client: Any, value: Any) -> Any:
    client.reset("u")
    client.insert(value, {"u": 1.5})
    (steps,) = client.sample("u")
    (whole,) = client.sample("u", emit_timesteps=False)
    assert all(type(step) is reverb.ReplaySample for step in [*steps, whole])
    info = steps[0].info
    types = (
        [type(field).__name__ for field in info],
        type(steps).__name__,
        type(whole.data).__name__,
    )
    numbers = info.probability, info.table_size, info.priority, info.times_sampled
    return len(steps), describe(steps[0].data), describe(whole.data), types, numbers


def data_probes(client: Any) -> None:
    for text in (
        "1|2.5|True|'grüße'|b'x'|np.float16(1)|[1, 2]|{'b': 1, 'a': [2, (3,)]}|np.zeros((0, 2), np.int8)|"
        "np.array(['a', 'b'])|np.array([b'a', 'b'], object)|np.array(5)|1 + 2j|tf.constant([1., 2.])|"
        "np.arange(6).reshape(2, 3).T|[[1, 2], [3, 4]]|np.uint64(2**63)|collections.OrderedDict(b=1, a=2)|"
        "np.arange(3, dtype='>i4')|[None]|[object()]|[np.datetime64('2020')]|[]"
    ).split("|"):
        probe(f"insert {text}", lambda text=text: round_trip(client, eval(text)))
    step = {"a": np.float32(1), "b": (np.array([1, 2]),)}
    probe("signature", lambda: len(client.insert(step, {"f": 1.0}) or [0]))
    probe("dtype", lambda: client.insert({**step, "a": np.float64(1)}, {"f": 1.0}))
    probe("shape", lambda: client.insert({**step, "b": (np.array([1]),)}, {"f": 1.0}))
    probe("structure", lambda: client.insert({"a": np.float32(1)}, {"f": 1.0}))
    for emit in (True, False):
        (sample,) = client.sample("f", emit_timesteps=emit, unpack_as_table_signature=True)
        data = sample[0].data if emit else sample.data
        probe(f"unpacked {emit}", lambda data=data: tree.map_structure(np.ndarray.tolist, data))
    probe("cache", lambda: sorted(client._signature_cache))


def client_probes(client: Any) -> None:
    for text in "{}|{'u': float('nan')}|{'zz': 1.0}|{'u': 'x'}|{'p': 1}".split("|"):
        probe(f"insert with {text}", lambda text=text: len(client.insert([1], eval(text)) or [0]))
    for text in (
        "{'num_samples': 0}|{'num_samples': -1}|{'num_samples': -2}|{'num_samples': 1.5}|{'table': 'zz'}|{'table': 3}|"
        "{'table': 'zz', 'unpack_as_table_signature': True}"
    ).split("|"):
        given = {"table": "u", **eval(text)}
        probe(f"sample {text}", lambda given=given: len(list(client.sample(**given))))
    client.reset("p")
    for i in range(3):
        client.insert([i], {"p": 1.0})
    keys = sorted({x[0].info.key for x in client.sample("p", 200)})
    for text in (
        "{}|{'updates': {k: 3.}}|{'updates': {k: 3}}|{'updates': {np.uint64(k): np.float32(2)}}|{'updates': {-1: 1.}}|"
        "{'updates': {1.5: 1.}}|{'updates': {k: 'x'}}|{'updates': {12345: 1.}}|{'updates': [1]}|{'deletes': [12345]}|"
        "{'deletes': [-1]}|{'deletes': [2**64]}|{'deletes': 3}|{'deletes': np.array([l], np.uint64)}|{'table': 3}|"
        "{'table': 'zz', 'deletes': [1]}"
    ).split("|"):
        given = {"table": "p", **eval(text, {"k": keys[0], "l": keys[1], "np": np})}
        probe(f"mutate {text}", lambda given=given: client.mutate_priorities(**given))
    probe("left", lambda: client.server_info()["p"].current_size)
    probe("reset of nothing", lambda: client.reset("zz"))
    probe("reset of a number", lambda: client.reset(3))
    for timeout in (None, 0, 5, -1, 5.0, "x"):
        probe(f"server_info {timeout!r}", lambda t=timeout: sorted(client.server_info(t)))
    probe(
        "pickle", lambda: pickle.loads(pickle.dumps(client)).server_address == client.server_address
    )
    for refs in (0, -1, 1.5, "x"):
        probe(f"trajectory_writer {refs!r}", lambda refs=refs: client.trajectory_writer(refs))
    probe("address", lambda: client_lib.Client("nonsense"))
    probe("address of a number", lambda: client_lib.Client(3))
    probe("nobody there", lambda: reverb.Client("localhost:1").server_info(1))


def native_probes(client: Any) -> None:
    client.reset("u")
    client.insert([np.int16(5)], {"u": 2.0})
    sampler = client._client.NewSampler("u", 1, 1)
    probe("GetNextTrajectory", lambda: describe(sampler.GetNextTrajectory()[1:]))
    probe("GetNextTrajectory again", sampler.GetNextTrajectory)
    probe("ServerInfo", lambda: [type(info).__name__ for info in client._client.ServerInfo(0)])
    given = {"name": "n", "sampler": selectors.Fifo(), "remover": selectors.Fifo(), "max_size": 3}
    given["rate_limiter"] = rate_limiters.MinSize(1).internal_limiter
    probe(
        "native table",
        lambda: pybind.Table(max_times_sampled=0, extensions=[], signature=None, **given).name(),
    )
    probe("extension", pybind.TableExtension)
    tuned, constant = pybind.AutoTunedChunkerOptions, pybind.ConstantChunkerOptions
    probe("tuned", lambda: [tuned(3, 1.0) == other for other in (tuned(3, 2.0), tuned(4, 1.0))])
    probe("constant", lambda: [constant(1, 2) == constant(*n) for n in ((1, 2), (2, 2), (1, 3))])
    probe("other options", lambda: tuned(3, 1.0) == constant(1, 3))
    probe("options class", lambda: isinstance(tuned(3, 1.0), pybind.ChunkerOptions))
    probe("info tensors", lambda: pybind.Sampler.NUM_INFO_TENSORS)
    probe("zeros", lambda: tuple(replay_sample.SampleInfo.zeros()))
    probe("dtypes", lambda: tuple(replay_sample.SampleInfo.tf_dtypes()))
    probe("shapes", lambda: tuple(replay_sample.SampleInfo.tf_shapes()))
    probe("info fields", lambda: list(reverb_types.TableInfo.__dataclass_fields__)[:12])


def checkpointer_probes() -> None:
    default = checkpointers_lib.DefaultCheckpointer("/a/b")
    probe("settings", lambda: (default.path, default.group, default.fallback_checkpoint_path))
    probe("abstract", checkpointers_lib.CheckpointerBase)
    probe("default", lambda: type(reverb.checkpointers.default_checkpointer("g")).__name__)
    probe(
        "native",
        lambda: type(checkpointers_lib.TempDirCheckpointer().internal_checkpointer()).__name__,
    )
    probe("path of a number", lambda: pybind.create_default_checkpointer(3, "", None))


def main() -> None:
    selector_probes()
    limiter_probes()
    table_probes()
    server_probes()
    signature = {"a": _SPEC, "b": (tf.TensorSpec([2], tf.int64),)}
    tables = [
        make_table(name="u"),
        make_table(name="p", sampler=selectors.Prioritized(1.0)),
        make_table(name="f", sampler=selectors.Fifo(), signature=signature),
    ]
    server = reverb.Server(tables=tables)
    client = server.localhost_client()
    data_probes(client)
    client_probes(client)
    native_probes(client)
    checkpointer_probes()
    server.stop()


if __name__ == "__main__":
    main()

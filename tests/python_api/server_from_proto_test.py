"""Tables from messages of a configuration."""

import pytest

import reverb_tf as reverb
from reverb_tf.cc import schema_pb2
from reverb_tf.cc.checkpointing import checkpoint_pb2
from reverb_tf.server_executable import server_from_proto

_SELECTORS = [
    (reverb.selectors.Fifo, "fifo: true"),
    (reverb.selectors.Lifo, "lifo: true"),
    (reverb.selectors.Uniform, "uniform: true"),
    (lambda: reverb.selectors.Prioritized(0.75), "prioritized { priority_exponent: 0.75 }"),
    (reverb.selectors.MinHeap, "heap { min_heap: true }"),
    (reverb.selectors.MaxHeap, "heap { min_heap: false }"),
]


def parse(text: str, cls: type):
    from google.protobuf import text_format

    return text_format.Parse(text, cls())


@pytest.mark.parametrize("make, text", _SELECTORS, ids=[text for _, text in _SELECTORS])
def test_selector(make, text):
    selector = server_from_proto.selector_from_proto(parse(text, schema_pb2.KeyDistributionOptions))
    assert type(selector) is type(make())
    assert repr(selector) == repr(make())


@pytest.mark.parametrize("text", ["fifo: false", "lifo: false", "uniform: false"])
def test_a_selector_that_is_switched_off(text):
    with pytest.raises(ValueError):
        server_from_proto.selector_from_proto(parse(text, schema_pb2.KeyDistributionOptions))


@pytest.mark.parametrize("text", ["", "is_deterministic: true"])
def test_no_selector(text):
    with pytest.raises(NotImplementedError):
        server_from_proto.selector_from_proto(parse(text, schema_pb2.KeyDistributionOptions))


def test_rate_limiter():
    message = checkpoint_pb2.RateLimiterCheckpoint(
        samples_per_insert=1.5, min_size_to_sample=3, min_diff=-2.0, max_diff=8.5, insert_count=100
    )
    limiter = server_from_proto.rate_limiter_from_proto(message)
    assert type(limiter) is reverb.rate_limiters.RateLimiter
    assert repr(limiter) == repr(reverb.rate_limiters.RateLimiter(1.5, 3, -2.0, 8.5))


def test_a_rate_limiter_that_cannot_work():
    with pytest.raises(ValueError):
        server_from_proto.rate_limiter_from_proto(checkpoint_pb2.RateLimiterCheckpoint())


def test_tables(caplog):
    original = [
        reverb.Table(
            name="a",
            sampler=reverb.selectors.Prioritized(0.5),
            remover=reverb.selectors.MinHeap(),
            max_size=7,
            rate_limiter=reverb.rate_limiters.SampleToInsertRatio(2.0, 3, 5.0),
            max_times_sampled=4,
        ),
        reverb.Table.queue("b", 3, signature={"x": reverb.TensorSpec((), "f4")}),
    ]
    configs = []
    for table in original:
        info = table.info
        limiter = info.rate_limiter_info
        configs.append(
            checkpoint_pb2.PriorityTableCheckpoint(
                table_name=info.name,
                sampler=info.sampler_options,
                remover=info.remover_options,
                max_size=info.max_size,
                max_times_sampled=info.max_times_sampled,
                rate_limiter=checkpoint_pb2.RateLimiterCheckpoint(
                    samples_per_insert=limiter.samples_per_insert,
                    min_size_to_sample=limiter.min_size_to_sample,
                    min_diff=limiter.min_diff,
                    max_diff=limiter.max_diff,
                ),
            )
        )
    configs[1].signature.none_value.SetInParent()
    tables = server_from_proto.tables_from_proto(configs)
    assert "'b'" in caplog.text and "signature" in caplog.text
    assert isinstance(tables, list)
    assert tables[0].info == original[0].info
    assert tables[1].info == original[1].replace(signature={}).info

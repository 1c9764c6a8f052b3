"""Tables and what they are made of, from messages of a configuration or a checkpoint."""

import logging
from collections.abc import Iterable

from reverb_tf import item_selectors, rate_limiters, reverb_types, server
from reverb_tf.proto import checkpoint_pb2, schema_pb2


def selector_from_proto(options: schema_pb2.KeyDistributionOptions) -> reverb_types.SelectorType:
    """Returns the selector that `options` describes.

    Raises:
      NotImplementedError: `options` names none.
      ValueError: A member that can only be true is false.
    """
    if options.WhichOneof("distribution") is None:
        raise NotImplementedError(f"The options name no selector: {options}")
    return item_selectors.selector_from_options(options)


def rate_limiter_from_proto(
    checkpoint: checkpoint_pb2.RateLimiterCheckpoint,
) -> rate_limiters.RateLimiter:
    """Returns a limiter with the four numbers of `checkpoint`, whose counters are ignored; ValueError as its class."""
    return rate_limiters.RateLimiter(
        samples_per_insert=checkpoint.samples_per_insert,
        min_size_to_sample=checkpoint.min_size_to_sample,
        min_diff=checkpoint.min_diff,
        max_diff=checkpoint.max_diff,
    )


def tables_from_proto(
    configs: Iterable[checkpoint_pb2.PriorityTableCheckpoint],
) -> list[server.Table]:
    """Returns new, empty tables with the settings of `configs`; signatures are ignored, with a warning."""
    tables = []
    for config in configs:
        if config.HasField("signature"):
            logging.getLogger("reverb_tf").warning(
                "The signature of table %r in the configuration is ignored.", config.table_name
            )
        tables.append(
            server.Table(
                name=config.table_name,
                sampler=selector_from_proto(config.sampler),
                remover=selector_from_proto(config.remover),
                max_size=config.max_size,
                rate_limiter=rate_limiter_from_proto(config.rate_limiter),
                max_times_sampled=config.max_times_sampled,
            )
        )
    return tables

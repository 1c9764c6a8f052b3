"""The signature of a table, for graphs that are built from it."""

from collections.abc import Sequence
from typing import Any

from reverb_tf import client as reverb_client
from reverb_tf import errors

_TIMEOUT_OF_SEVERAL_SECS = 5.0


def fetch(server_address: str | Sequence[str], table: str, timeout: float | None) -> Any:
    """Asks the server for the signature of a table.

    Args:
      server_address: `host:port` of the server, or several; the first that answers is believed.
      table: name of the table.
      timeout: how long to wait for each server, in seconds; None: as long as a client tries to reach it, or 5 s for
        each of several.

    Returns:
      The nest of `tf.TensorSpec`s.

    Raises:
      DeadlineExceededError: the server (of several, the last) did not answer in time.
      ValueError: the server has no such table, or the table has no signature; there is no address.
    """
    addresses = [server_address] if isinstance(server_address, str) else list(server_address)
    if not addresses:
        raise ValueError("server_address must have at least one address, got none")
    if timeout is None and len(addresses) > 1:
        timeout = _TIMEOUT_OF_SEVERAL_SECS
    for address in addresses:
        try:
            info = reverb_client.Client(address).server_info(timeout)
        except errors.ReverbError:
            if address == addresses[-1]:
                raise
            continue
        break
    if table not in info:
        raise ValueError(
            f"Server at {address} does not contain any table named {table}. "
            f"Found: {', '.join(sorted(info))}."
        )
    signature = info[table].signature
    if signature is None:
        raise ValueError(f"Table {table} at {address} does not have a signature.")
    return signature

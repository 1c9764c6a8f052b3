"""The signature of a table, for graphs that are built from it."""

from typing import Any

from reverb_tf import client as reverb_client


def fetch(server_address: str, table: str, timeout: float | None) -> Any:
    """Asks the server for the signature of a table.

    Args:
      server_address: `host:port` of the server.
      table: name of the table.
      timeout: how long to wait for the server, in seconds; None: as long as a client tries to reach it.

    Returns:
      The nest of `tf.TensorSpec`s.

    Raises:
      DeadlineExceededError: the server did not answer in time.
      ValueError: the server has no such table, or the table has no signature.
    """
    info = reverb_client.Client(server_address).server_info(timeout)
    if table not in info:
        raise ValueError(
            f"Server at {server_address} does not contain any table named {table}. "
            f"Found: {', '.join(sorted(info))}."
        )
    signature = info[table].signature
    if signature is None:
        raise ValueError(f"Table {table} at {server_address} does not have a signature.")
    return signature

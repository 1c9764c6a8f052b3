"""How the rows of a column are grouped into chunks."""


class ChunkerOptions:
    """Base class."""


class ConstantChunkerOptions(ChunkerOptions):
    """Chunks of a fixed length.

    Attributes:
      max_chunk_length: Rows of a chunk, 1 <= max_chunk_length <= num_keep_alive_refs.
      num_keep_alive_refs: How many of the newest rows can be referenced.
    """

    def __init__(self, max_chunk_length: int, num_keep_alive_refs: int):
        self.max_chunk_length = max_chunk_length
        self.num_keep_alive_refs = num_keep_alive_refs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantChunkerOptions):
            return NotImplemented
        return (self.max_chunk_length, self.num_keep_alive_refs) == (
            other.max_chunk_length,
            other.num_keep_alive_refs,
        )

    def __hash__(self) -> int:
        return hash((self.max_chunk_length, self.num_keep_alive_refs))

    def __repr__(self) -> str:
        return (
            f"ConstantChunkerOptions(max_chunk_length={self.max_chunk_length}, "
            f"num_keep_alive_refs={self.num_keep_alive_refs})"
        )


class AutoTunedChunkerOptions(ChunkerOptions):
    """Chunks whose length is found while writing, between 1 and num_keep_alive_refs.

    Attributes:
      num_keep_alive_refs: How many of the newest rows can be referenced.
      throughput_weight: How much the size of messages counts against the memory of the server.
    """

    def __init__(self, num_keep_alive_refs: int, throughput_weight: float = 1.0):
        self.num_keep_alive_refs = num_keep_alive_refs
        self.throughput_weight = throughput_weight

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AutoTunedChunkerOptions):
            return NotImplemented
        return self.num_keep_alive_refs == other.num_keep_alive_refs

    def __hash__(self) -> int:
        return hash(self.num_keep_alive_refs)

    def __repr__(self) -> str:
        return (
            f"AutoTunedChunkerOptions(num_keep_alive_refs={self.num_keep_alive_refs}, "
            f"throughput_weight={self.throughput_weight:g})"
        )

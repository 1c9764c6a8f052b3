from collections.abc import Iterator

def flatten(nest: object | None) -> list:
    """The leaves of a nest, as a list."""

def flatten_with_path(nest: object | None) -> list:
    """[(path, leaf), ...] of a nest."""

class Structure:
    """The shape of a nest, without its leaves."""

    def __init__(self, nest: object | None) -> None: ...
    def __len__(self) -> int: ...
    def rebuild(self, leaves: object) -> object:
        """
        A nest of this shape with the given leaves. ValueError if their number is wrong.
        """

class WeakCellRef:
    """
    A reference to one value of a TrajectoryWriter; it does not keep the value.
    """

    @property
    def expired(self) -> bool:
        """True once the writer does not keep the value any more."""

    @property
    def shape(self) -> tuple:
        """Tuple of ints. RuntimeError when expired."""

    @property
    def dtype(self) -> object:
        """numpy.dtype. RuntimeError when expired."""

    def numpy(self) -> object:
        """A copy of the value. RuntimeError when expired."""

class TrajectoryColumn:
    """
    One column of a trajectory: references to values that were appended, in the order chosen.

    Slices of a TrajectoryWriter's history are columns.
    """

    def __init__(
        self, data_references: object, *, squeeze: bool = False, path: object | None = None
    ) -> None:
        """
        Args:
          data_references: The references, none of them None.
          squeeze: Store the only value without the leading (time) axis.
          path: Tuple that names the column in error texts.

        Raises:
          ValueError: A reference is None, or `squeeze` and there is not exactly one.
        """

    @property
    def is_squeezed(self) -> bool:
        """Whether the value is stored without the leading axis."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator: ...
    def __getitem__(self, index: object | None) -> TrajectoryColumn: ...
    @property
    def shape(self) -> object:
        """Shape of the array that will be stored, as a tuple."""

    @property
    def dtype(self) -> object:
        """numpy.dtype of the values."""

    def numpy(self) -> object:
        """
        The array that will be stored. RuntimeError when a reference has expired.
        """

class ColumnHistory:
    """
    The steps of one column since the episode began; slices of it are TrajectoryColumns.
    """

    def __init__(self, path: object, buffer_size: int, history_padding: int = 0) -> None: ...
    def append(self, ref: object | None) -> None:
        """Adds a step; None if the value is absent."""

    def reset(self) -> None:
        """Forgets all steps."""

    def set_last(self, ref: object) -> None:
        """Sets the newest step. RuntimeError if there is none or it is set."""

    @property
    def can_set_last(self) -> bool:
        """Whether the newest step exists and is not set."""

    def path(self) -> object:
        """The tuple that leads to the column."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator: ...
    def __getitem__(self, index: object | None) -> TrajectoryColumn:
        """
        An int gives a squeezed column, a slice or a list of ints a column with a leading axis. IndexError: out of
        range. ValueError: a chosen step is absent or not kept any more.
        """

class TrajectoryWriter:
    """
    What a reverb_tf.TrajectoryWriter writes through. Use Client.trajectory_writer().
    """

    def Append(self, arg: list, /) -> list: ...
    def AppendPartial(self, arg: list, /) -> list: ...
    def CreateItem(self, arg0: str, arg1: float, arg2: list, arg3: list, /) -> int: ...
    def Flush(self, max_pending: int = 0, timeout_ms: int = -1) -> None: ...
    def EndEpisode(self, clear_buffers: bool = True, timeout_ms: object | None = None) -> None: ...
    def flush_within(self, max_pending: int, timeout: object | None) -> None: ...
    def end_episode_within(self, clear_buffers: bool, timeout: object | None) -> None: ...
    def Close(self) -> None: ...
    def ConfigureChunker(self, arg0: int, arg1: object, /) -> None: ...
    @property
    def max_num_keep_alive_refs(self) -> int: ...
    @property
    def episode_steps(self) -> int: ...

class WriterCore:
    """Columns, histories and items of a reverb_tf.TrajectoryWriter."""

    def __init__(self, internal_writer: object) -> None: ...
    def append(self, data: object | None, partial_step: bool) -> None: ...
    def append_sequence(self, data: object | None) -> None: ...
    def append_batch(
        self, data: object | None, table: object, priorities: object, timeout: object | None
    ) -> list: ...
    def history(self) -> object: ...
    def create_item(
        self, table: object, priority: object, trajectory: object | None, timeout: object | None
    ) -> object: ...
    def episode_ended(self, clear: bool) -> None: ...
    def configure(self, path: object, options: object) -> None: ...
    def paths(self) -> list: ...

class StructuredWriter:
    """
    What a reverb_tf.structured.StructuredWriter writes through. Use Client.structured_writer().
    """

    def append(self, data: object | None, partial_step: bool, timeout: object | None) -> None: ...
    def Append(self, arg: list, /) -> None: ...
    def AppendPartial(self, arg: list, /) -> None: ...
    def Flush(self, max_pending: int = 0, timeout_ms: object | None = None) -> None: ...
    def EndEpisode(self, clear_buffers: bool = True, timeout_ms: object | None = None) -> None: ...
    def flush_within(self, max_pending: int, timeout: object | None) -> None: ...
    def end_episode_within(self, clear_buffers: bool, timeout: object | None) -> None: ...
    @property
    def step_is_open(self) -> bool: ...
    def paths(self) -> list: ...

class Writer:
    """What a reverb_tf.Writer writes through. Use Client.writer()."""

    def Append(self, data: object | None, timeout: object | None = None) -> None: ...
    def AppendSequence(self, sequence: object | None, timeout: object | None = None) -> None: ...
    def CreateItem(
        self, table: object, num_timesteps: int, priority: object, timeout: object | None = None
    ) -> int: ...
    def Flush(self, timeout: object | None = None) -> None: ...
    def Close(self, retry_on_unavailable: bool, timeout: object | None = None) -> None: ...
    def __repr__(self) -> str: ...

class Sampler:
    """A stream of samples. Use Client.sample()."""

    def next(
        self, timeout: object | None, emit_timesteps: bool, structure: object | None
    ) -> object: ...
    def GetNextTrajectory(self) -> list: ...
    def close(self) -> None: ...

    NUM_INFO_TENSORS: int = 5

class Client:
    """The calls of a reverb_tf.Client."""

    def __init__(self, server_name: object) -> None: ...
    def insert(self, data: object | None, priorities: dict, timeout: object | None) -> object: ...
    def mutate_priorities(
        self, table: object, updates: dict, deletes: object, timeout: object | None
    ) -> None: ...
    def MutatePriorities(
        self, table: object, updates: object, deletes: object, timeout: object | None = None
    ) -> None: ...
    def Reset(self, table: object, timeout: object | None = None) -> None: ...
    def get(
        self, table: object, keys: object, timeout: object | None, structure: object | None
    ) -> object: ...
    def list_items(
        self, table: object, start: int, page_size: int, timeout: object | None
    ) -> object: ...
    def delete(self, table: object, keys: object, timeout: object | None) -> int: ...
    def set_rate_limiter(
        self, table: object, rate_limiter: object, timeout: object | None
    ) -> None: ...
    def ServerInfo(self, timeout_sec: object | None = None) -> list: ...
    def Checkpoint(self, timeout: object | None = None) -> object: ...
    def NewTrajectoryWriter(
        self, chunker_options: object, validate_items: bool, timeout: object | None = None
    ) -> TrajectoryWriter: ...
    def NewStructuredWriter(self, configs: list) -> StructuredWriter: ...
    def NewWriter(
        self,
        chunk_length: int,
        max_timesteps: int,
        delta_encoded: bool = False,
        max_in_flight_items: int = 25,
        timeout: object | None = None,
    ) -> Writer: ...
    def NewSampler(
        self,
        table: object,
        max_samples: int,
        buffer_size: int,
        rate_limiter_timeout: object | None = None,
    ) -> Sampler: ...

class Table:
    """The native part of a reverb_tf.Table."""

    def __init__(
        self,
        name: object | None,
        sampler: object | None,
        remover: object | None,
        max_size: object,
        max_times_sampled: object,
        rate_limiter: object | None,
        extensions: object = (),
        signature: object | None = None,
        *,
        seed: object | None = None,
    ) -> None: ...
    def name(self) -> str: ...
    def can_sample(self, arg: int, /) -> bool: ...
    def can_insert(self, arg: int, /) -> bool: ...
    def set_rate_limiter(self, arg: object, /) -> None: ...
    def info(self) -> bytes: ...
    def __repr__(self) -> str: ...

class Server:
    """The native part of a reverb_tf.Server."""

    def __init__(
        self,
        priority_tables: object,
        port: object,
        checkpointer: object | None = None,
        *,
        host: object = "[::]",
        progress: object | None = None,
    ) -> None: ...
    @property
    def port(self) -> int: ...
    def restored(self) -> tuple: ...
    def Checkpoint(self, timeout: object | None = None) -> str: ...
    def Stop(self) -> None: ...
    def Wait(self, timeout: object | None = None) -> bool: ...

class CheckpointItems:
    """The items of one table of a checkpoint."""

    def next(self, structure: object | None) -> object: ...

class CheckpointReader:
    """What a reverb_tf.CheckpointReader reads with."""

    @staticmethod
    def open(path: object, progress: object | None) -> CheckpointReader: ...
    @property
    def path(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def num_bytes(self) -> int: ...
    def tables(self) -> list: ...
    def items(self, table: object) -> CheckpointItems: ...

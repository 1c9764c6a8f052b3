"""Exceptions: one class for each status code, each of them a ReverbError and the built-in class that fits it."""


class ReverbError(Exception):
    """Base class of every error that the server or the transport reports."""


class CancelledError(ReverbError, RuntimeError):
    """The writer, sampler or server was closed while the call waited, or before it."""


class UnknownError(ReverbError, RuntimeError):
    """The peer reported an error without a meaning of its own."""


class InvalidArgumentError(ReverbError, ValueError):
    """An argument cannot be right, whatever the state of the server is."""


class DeadlineExceededError(ReverbError, RuntimeError, TimeoutError):
    """The timeout ran out; the text says what was waited for."""


class NotFoundError(ReverbError, RuntimeError):
    """There is no table of that name."""


class AlreadyExistsError(ReverbError, RuntimeError):
    """What was to be created exists."""


class PermissionDeniedError(ReverbError, RuntimeError):
    """The server does not allow the call."""


class ResourceExhaustedError(ReverbError, IndexError):
    """A limit (memory, message size) was reached."""


class FailedPreconditionError(ReverbError, RuntimeError):
    """The object is in a state in which the call makes no sense, for example a reference that has expired."""


class AbortedError(ReverbError, RuntimeError):
    """The call was given up because of another one."""


class OutOfRangeError(ReverbError, RuntimeError):
    """The sampler has returned as many samples as were asked for."""


class UnimplementedError(ReverbError, NotImplementedError):
    """The server does not know the call."""


class InternalError(ReverbError, RuntimeError):
    """Something is wrong in the library or in the peer."""


class UnavailableError(ReverbError, RuntimeError):
    """The server could not be reached; the text names its address and the cause."""


class BindError(UnavailableError, ValueError):
    """A server could not listen on the port it was given."""


class DataLossError(ReverbError, RuntimeError):
    """Stored or received data is damaged."""


class UnauthenticatedError(ReverbError, RuntimeError):
    """The server does not know who calls."""


# Numbers of the status codes (those of gRPC).
CLASS_OF_CODE: dict[int, type[ReverbError]] = {
    1: CancelledError,
    2: UnknownError,
    3: InvalidArgumentError,
    4: DeadlineExceededError,
    5: NotFoundError,
    6: AlreadyExistsError,
    7: PermissionDeniedError,
    8: ResourceExhaustedError,
    9: FailedPreconditionError,
    10: AbortedError,
    11: OutOfRangeError,
    12: UnimplementedError,
    13: InternalError,
    14: UnavailableError,
    15: DataLossError,
    16: UnauthenticatedError,
}

"""Functions on threads. Used where either package may be installed: imports none of them."""

import threading
from collections.abc import Callable
from typing import Any


class Call:
    """A function that runs on a thread."""

    def __init__(self, function: Callable[[], Any]):
        self._function = function
        self._value: Any = None
        self._error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self._value = self._function()
        except BaseException as error:
            self._error = error

    @property
    def running(self) -> bool:
        return self.thread.is_alive()

    def is_blocked(self, seconds: float = 0.5) -> bool:
        """Whether it is still running after the time that it would need otherwise."""
        self.thread.join(seconds)
        return self.running

    def result(self, timeout: float = 60) -> Any:
        """Waits for the function; returns its value or raises its error."""
        self.thread.join(timeout)
        assert not self.running, "still running"
        if self._error is not None:
            raise self._error
        return self._value

"""Threads that know their context. A new thread has none: the classic cause of code 107002."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import acl

from .errors import check
from .process import current_context

__all__ = ["Thread", "carry_context"]

_T = TypeVar("_T")


def carry_context() -> Callable[[], None]:
    """A function that makes this thread's context current in the thread that calls it.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from cannery import DeviceBuffer, session
    >>> with session():
    ...     with ThreadPoolExecutor(2, initializer=carry_context()) as pool:
    ...         pool.submit(lambda: DeviceBuffer(64).nbytes).result()
    64
    """
    context = current_context()

    def enter() -> None:
        check("acl.rt.set_context", acl.rt.set_context(context))

    return enter


class Thread(threading.Thread, Generic[_T]):
    """A thread in the context of the one that made it, whose answer or exception ``result`` gives.

    An exception that nobody took with ``result`` goes to ``threading.excepthook``, as of any thread, when the
    thread is dropped or the program ends.

    >>> from cannery import Device, session
    >>> with session():
    ...     thread = Thread(lambda: Device.current().id)
    ...     thread.start()
    ...     thread.result()
    0
    """

    def __init__(
        self,
        target: Callable[..., _T],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        daemon: bool | None = None,
    ) -> None:
        super().__init__(name=name, daemon=daemon)
        self._enter = carry_context()
        self._work: Callable[[], _T] | None = lambda: target(*args, **(kwargs or {}))
        self._answer: list[_T] = []
        self._error: BaseException | None = None
        self._heard = False

    def run(self) -> None:
        """Enters the context and calls the target."""
        try:
            self._enter()
            assert self._work is not None
            self._answer.append(self._work())
        except BaseException as error:
            # Without the frame of this method, which would keep the thread alive.
            self._error = error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
            _failed.add(self)
        finally:
            self._work = None

    def result(self, timeout: float | None = None) -> _T:
        """Waits for the end; what the target returned, or raised. Seconds, then ``TimeoutError``."""
        self.join(timeout)
        if self.is_alive():
            raise TimeoutError(f"thread {self.name} did not end in {timeout} s")
        if self._error is not None:
            self._heard = True
            raise self._error
        return self._answer[0]

    def __del__(self) -> None:
        _tell(self)


# Those that failed.
_failed: weakref.WeakSet[Thread[Any]] = weakref.WeakSet()


def _tell(thread: Thread[Any]) -> None:
    """Gives the exception of a thread that nobody took to those who look after exceptions of threads, once."""
    # Missing when the thread could not be made.
    error = getattr(thread, "_error", None)
    if error is not None and not thread._heard:
        thread._heard = True
        threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))


@atexit.register
def _tell_all() -> None:
    for thread in list(_failed):
        _tell(thread)

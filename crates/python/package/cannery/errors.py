"""What goes wrong: codes of the runtime as exceptions, and misuse that the package stops itself."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import NoReturn

import acl

__all__ = [
    "AclError",
    "CanneryError",
    "DeviceFault",
    "InvalidArgument",
    "MisuseError",
    "NoContext",
    "NotSupported",
    "OutOfMemory",
    "OutOfRange",
    "StillViewed",
    "TimedOut",
    "UseAfterFree",
    "WrongDevice",
    "lost_errors",
]

# Numbers in a text: "asked 70 GiB (75161927680 bytes)", "largest free run 4096 bytes"; what stands before
# each, in both languages.
_NUMBERS = {
    "asked": r"(?:\basked |申请 )",
    "rounded": r"(?:\brounded |取整为 )",
    "free": r"(?:\bpool free |池空闲 )",
    "total": r"(?:\bpool free .*?\bof |池空闲 .*?，共 )",
    "largest": r"(?:\blargest free run |最大空闲块 )",
    "idle": r"(?:\bfree inside of pools |内存池中空闲 )",
    "pending": r"(?:\bfreed but not yet usable |已释放但尚不可用 )",
    "quota": r"(?:\(CANNERY_QUOTA\) |（CANNERY_QUOTA）)",
    "quota_left": r"(?:\(CANNERY_QUOTA\) .*?bytes\)?, |（CANNERY_QUOTA）.*?，剩余 )",
}
_BYTES = r"(?:[\d.]+ [KMGT]iB \()?(\d+) bytes"
# The next step of this very case, up to the code.
_STEP = r"(?:\bNext: |下一步：)(.*?)(?: \[\w+ \d+\])?(?: \[[^\[]*\])?$"
_KEPT = 32


class CanneryError(Exception):
    """Everything this package raises on its own."""

    #: The return code of the runtime; 0 when the package refused before calling it.
    code: int = 0
    #: The name of the code, such as ``ACL_ERROR_RT_MEMORY_ALLOCATION``.
    name: str = ""
    #: The function that failed.
    api: str = ""
    #: What the runtime said.
    text: str = ""
    #: What to do next.
    remedy: str = ""
    #: Usual causes of the code, the most likely first.
    causes: tuple[str, ...] = ()
    #: The function in C, the chapter of the interface and the page of the manual that tell of it.
    function: str = ""
    chapter: str = ""
    manual: str = ""
    #: Products that lack the function, and what the interface demands of a call (in English).
    lacking: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    #: The numbers that belong to it, in bytes where they are sizes.
    numbers: dict[str, int]

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        name: str = "",
        api: str = "",
        text: str = "",
        remedy: str = "",
        numbers: dict[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.api = api
        self.text = text or message
        self.remedy = remedy
        self.numbers = dict(numbers or {})

    def __reduce__(self) -> tuple[object, tuple[type[CanneryError], str, dict[str, object]]]:
        return _rebuilt, (type(self), str(self), dict(self.__dict__))


def _rebuilt(kind: type[CanneryError], message: str, state: dict[str, object]) -> CanneryError:
    """An exception that came from another process."""
    error = kind(message)
    error.__dict__.update(state)
    return error


class AclError(CanneryError):
    """The runtime returned a code that is not success."""


class InvalidArgument(AclError, ValueError):
    """An argument is wrong: 100000, 107000 and their kin."""


class NoContext(AclError):
    """The thread has no device or context, or the context is gone: 107002, 107003."""


class NotSupported(AclError, NotImplementedError):
    """The product or the library lacks it: 207000."""


class OutOfMemory(AclError, MemoryError):
    """No device or host memory: 207001. ``numbers`` has asked, free, total and what else is known.

    Free and total are those of the pool; what this process may take of it is ``quota`` and ``quota_left``.
    """


class TimedOut(AclError, TimeoutError):
    """A wait ended before its time: 507046, 507047."""


class DeviceFault(AclError):
    """Work that was queued failed, or the device or its driver did: 507xxx."""


class MisuseError(CanneryError):
    """The package stopped a call that would have done harm; nothing was changed."""


class UseAfterFree(MisuseError, ValueError):
    """Memory, a stream, an event or a context is used after it was closed."""


class OutOfRange(MisuseError, IndexError):
    """A slice, or the other end of a copy, does not fit."""


class WrongDevice(MisuseError, RuntimeError):
    """Memory of one device met a stream or a thread of another."""


class StillViewed(MisuseError, BufferError):
    """Host memory was to be freed while arrays or views still show it."""


# How long a wait goes on before it looks for Ctrl-C.
_STEP_MS = 200
_TIMEOUTS = (507046, 507047)

_CLASSES: dict[int, type[AclError]] = {
    100000: InvalidArgument,
    107000: InvalidArgument,
    107001: InvalidArgument,
    107002: NoContext,
    107003: NoContext,
    107016: InvalidArgument,
    107017: InvalidArgument,
    207000: NotSupported,
    207001: OutOfMemory,
    507046: TimedOut,
    507047: TimedOut,
}


def _numbers_in(text: str) -> dict[str, int]:
    """The numbers of a shortage that the text of the runtime carries."""
    found = ((name, re.search(before + _BYTES, text)) for name, before in _NUMBERS.items())
    return {name: int(match[1]) for name, match in found if match}


def error_of(api: str, code: int, **numbers: int) -> AclError:
    """The exception for a code. Takes the pending texts of the thread away.

    >>> error = error_of("acl.rt.free", 107000)
    >>> error.name, type(error).__name__
    ('ACL_ERROR_RT_PARAM_INVALID', 'InvalidArgument')
    """
    text = acl.get_recent_err_msg() or ""
    # A code that the table lacks comes from a newer library: it is kept as it is.
    unknown = (f"code {code}", "a code that this version does not know", (), "")
    name, meaning, causes, remedy = _codes().get(code, unknown)
    kind = _CLASSES.get(code, DeviceFault if 507000 <= code < 508000 else AclError)
    # Some texts end with the next step of this very case, which is better than that of the code.
    step = re.search(_STEP, text, re.MULTILINE)
    remedy = step[1] if step else remedy
    known = {**numbers, **_numbers_in(text)}
    if kind is OutOfMemory and not {"free", "total"} <= known.keys() and api != "acl.rt.malloc_host":
        known.update(_free_and_total())
    message = f"{api} failed with {code} ({name}): {text or meaning}"
    if remedy and remedy not in text:
        message += f"\nRemedy: {remedy}"
    error = kind(message, code=code, name=name, api=api, text=text or meaning, remedy=remedy, numbers=known)
    error.causes = causes
    from .functions import FUNCTIONS

    if api in FUNCTIONS:
        error.function, error.chapter, error.manual, error.lacking, error.rules = FUNCTIONS[api]
    return error


def language() -> str:
    """``en`` or ``zh``, as the runtime chooses it: ``CANNERY_LANG`` when it names one of them, else the
    first of ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` that is set, else English.
    """
    chosen = re.split(r"[_.@-]", os.environ.get("CANNERY_LANG", "").lower())[0]
    if chosen in ("en", "zh"):
        return chosen
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return "zh" if re.split(r"[_.@-]", locale.lower())[0] == "zh" else "en"


def _codes() -> dict[int, tuple[str, str, tuple[str, ...], str]]:
    """The table in the language of the runtime's own texts."""
    if language() == "zh":
        from .codes_zh import CODES
    else:
        from .codes import CODES
    return CODES


def _free_and_total() -> dict[str, int]:
    """What the device has: libraries whose texts do not tell it leave it to be asked."""
    free, total, code = acl.rt.get_mem_info(1)
    if code != 0:
        acl.get_recent_err_msg()
        return {}
    return {"free": free, "total": total}


def fail(api: str, code: int, **numbers: int) -> NoReturn:
    """Raises the exception for a code."""
    raise error_of(api, code, **numbers)


def check(api: str, code: int, **numbers: int) -> None:
    """Raises unless a call succeeded."""
    if code != 0:
        fail(api, code, **numbers)


def end(close: Callable[[], None], on_the_way: object) -> None:
    """Ends a ``with`` block: what fails does not hide an exception that is on its way already."""
    if on_the_way is None:
        close()
        return
    try:
        close()
    except CanneryError as error:
        lose(error)


def drop(close: Callable[[], None]) -> None:
    """Closes an object that is being dropped, maybe while the interpreter ends: nothing is raised."""
    try:
        close()
    except CanneryError as error:
        lose(error)
    except Exception as error:
        # At the very end not even an error can be made: its table is not there any more.
        if not sys.is_finalizing():
            lose(MisuseError(str(error)))


def patiently(wait: Callable[[int], int], timeout_ms: int) -> int:
    """Waits in steps, so that Ctrl-C ends a wait that never ends. The code of the last step."""
    if timeout_ms != -1:
        return wait(timeout_ms)
    while True:
        code = wait(_STEP_MS)
        if code not in _TIMEOUTS:
            return code
        acl.get_recent_err_msg()


def _not_copied(self: object, *_: object) -> NoReturn:
    raise TypeError(
        f"{self!r} belongs to this process and has one owner: it cannot be copied or pickled; "
        "copy its bytes, with tobytes() or of(...)"
    )


class Single:
    """What is not copied: a second owner would free the same memory again."""

    __slots__ = ()

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _not_copied


_lost: list[CanneryError] = []
_lost_count = 0


def lose(error: CanneryError) -> None:
    """Keeps an error that could not be raised, because an object was being dropped."""
    global _lost_count
    _lost_count += 1
    _lost.append(error)
    del _lost[:-_KEPT]


def lost_errors(clear: bool = False) -> tuple[int, list[CanneryError]]:
    """How many errors happened while objects were dropped, and the newest of them (at most 32).

    An object that is dropped cannot raise; what failed then is kept here.

    >>> lost_errors()
    (0, [])
    """
    global _lost_count
    answer = (_lost_count, list(_lost))
    if clear:
        _lost_count = 0
        _lost.clear()
    return answer

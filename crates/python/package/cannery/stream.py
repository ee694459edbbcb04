"""Streams, events, and copies on their way."""

from __future__ import annotations

import threading
import time
from collections import deque

import acl

from .buffers import PinnedBuffer, foreign, remember
from .enums import EventFlag
from .errors import AclError, OutOfRange, Single, UseAfterFree, check, drop, end, error_of, patiently
from .host import HostData, source_of
from .process import current_context, current_device
from .ranges import Memory, byte_of

__all__ = ["Event", "Flight", "Stream"]

_memcpy_async = acl.rt.memcpy_async
_record_event = acl.rt.record_event
_query_event = acl.rt.query_event_status

_READY = 1
_NO_CONTEXT = (107002, 107003)
_PROGRESS = int(EventFlag.SYNC | EventFlag.CAPTURE_STREAM_PROGRESS)
# From so many copies on their way, those that have passed are looked for.
_MANY = 32


class Event(Single):
    """A point in the work of a stream.

    >>> from cannery import session
    >>> with session(), Stream() as stream, Event() as event:
    ...     event.record(stream)
    ...     event.synchronize()
    ...     event.done
    True
    """

    __slots__ = ("handle",)

    def __init__(self, flag: int = _PROGRESS) -> None:
        handle, code = acl.rt.create_event_ex_with_flag(flag)
        if code:
            raise error_of("acl.rt.create_event_ex_with_flag", code, flag=int(flag))
        #: The handle, for functions of ``acl``; 0 when it is closed.
        self.handle = handle

    def __index__(self) -> int:
        return self._open()

    def _open(self) -> int:
        if not self.handle:
            raise UseAfterFree("the event is used after close(): make a new one", remedy="make a new one")
        return self.handle

    def record(self, stream: Stream) -> None:
        """Marks the end of what the stream has got so far."""
        check("acl.rt.record_event", _record_event(self._open(), stream.handle))

    def synchronize(self, timeout_ms: int = -1) -> None:
        """Waits for it. Milliseconds, -1 for ever; then ``TimedOut``."""
        event = self._open()
        code = patiently(lambda limit: acl.rt.synchronize_event_with_timeout(event, limit), timeout_ms)
        check("acl.rt.synchronize_event_with_timeout", code, timeout_ms=timeout_ms)

    @property
    def done(self) -> bool:
        """Whether the stream has passed it."""
        status, code = _query_event(self._open())
        check("acl.rt.query_event_status", code)
        return status == _READY

    def close(self) -> None:
        """Destroys it. May be called twice."""
        handle, self.handle = self.handle, 0
        if handle:
            check("acl.rt.destroy_event", acl.rt.destroy_event(handle))

    def __enter__(self) -> Event:
        return self

    def __exit__(self, *error: object) -> None:
        end(self.close, error[0])

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            drop(self.close)


class Flight(Single):
    """A queued copy or fill. It holds its memory until the stream has passed it; it need not be kept."""

    __slots__ = ("_ends", "_event", "_stream", "number")

    def __init__(self, stream: Stream, event: int, ends: tuple[object, ...], number: int) -> None:
        #: Its place in the order of the stream.
        self.number = number
        self._stream: Stream | None = stream
        self._event = event
        self._ends = ends

    @property
    def done(self) -> bool:
        """Whether the stream has passed it."""
        stream = self._stream
        if stream is None:
            return True
        with stream._lock:
            if not self._event:
                return True
            status, code = _query_event(self._event)
            if code:
                raise error_of("acl.rt.query_event_status", code)
            if status != _READY:
                return False
            self._land(stream)
        return True

    def wait(self, timeout_ms: int = -1) -> None:
        """Waits until the stream has passed it. Milliseconds, -1 for ever; then ``TimedOut``.

        What failed on the device is told by ``Stream.synchronize``.
        """
        if self.done:
            return
        # The event goes back to the stream only once it is reached, so a second waiter sees it reached, too.
        event = self._event
        code = 0
        if event:
            code = patiently(lambda limit: acl.rt.synchronize_event_with_timeout(event, limit), timeout_ms)
        if code:
            raise error_of("acl.rt.synchronize_event_with_timeout", code, timeout_ms=timeout_ms)
        stream = self._stream
        if stream is not None:
            with stream._lock:
                self._land(stream)

    def _land(self, stream: Stream) -> None:
        """Lets go of everything. The lock of the stream is held."""
        event, self._event = self._event, 0
        self._ends = ()
        self._stream = None
        if event:
            stream._spare.append(event)


class Stream(Single):
    """A queue of work of the current device. A ``with`` block waits for its work at the end.

    >>> from cannery import DeviceBuffer, session
    >>> with session(), Stream() as stream:
    ...     sent, received, device = PinnedBuffer.of(b"ping"), PinnedBuffer(4), DeviceBuffer(4)
    ...     flight = stream.copy(device, sent)
    ...     flight = stream.copy(received, device)
    ...     received.tobytes()  # waits by itself
    b'ping'
    """

    __slots__ = (
        "__weakref__",
        "_context",
        "_flights",
        "_handle",
        "_limit",
        "_lock",
        "_number",
        "_spare",
        "_turn",
        "device",
    )

    def __init__(self, priority: int = 0, flag: int = 0) -> None:
        self._handle = 0
        #: The number of its device.
        self.device = current_device()
        self._context = current_context()
        self._lock = threading.RLock()
        self._turn = [None]
        self._flights: deque[Flight] = deque()
        self._spare: list[int] = []
        self._number = 0
        self._limit = _MANY
        if priority or flag:
            handle, code = acl.rt.create_stream_with_config(priority, flag)
            check("acl.rt.create_stream_with_config", code, priority=priority, flag=int(flag))
        else:
            handle, code = acl.rt.create_stream()
            check("acl.rt.create_stream", code)
        self._handle = handle

    @property
    def handle(self) -> int:
        """The handle, for functions of ``acl``."""
        if not self._handle:
            raise UseAfterFree("the stream is used after close(): make a new one", remedy="make a new one")
        return self._handle

    def __index__(self) -> int:
        return self.handle

    def copy(self, target: Memory, source: HostData | Memory, *, staged: bool = False) -> Flight:
        """Queues a copy; both ends live until the stream has passed it. Sizes must be equal."""
        try:
            to, origin = target.root, source.root
        except AttributeError:
            if not isinstance(target, Memory):
                raise _pageable(target, "target") from None
            source = _stage(source, staged)
            to, origin = target.root, source.root
        size = source.nbytes
        if size != target.nbytes:
            raise OutOfRange(
                f"a copy needs equal sizes: {target!r} has {target.nbytes} bytes, {source!r} has {size}",
                numbers={"size": target.nbytes, "other": size},
                remedy=f"slice the larger one: [:{min(size, target.nbytes)}]",
            )
        device = self.device
        if not to.device == device == origin.device:
            self._refuse_foreign(target, source)
        handle = self._handle or self.handle
        if not (to._address and origin._address):
            to.address, origin.address  # noqa: B018 - one of them says that it is closed
        turn = self._turn
        try:
            turn.pop()
        except IndexError:
            self._queue_up()
        try:
            spare = self._spare
            event = spare.pop() if spare and len(self._flights) < self._limit else self._event()
            if size:
                first, other = to._address + target._offset, origin._address + source._offset
                code = _memcpy_async(first, size, other, size, target.side + 2 * source.side, handle)
                if code:
                    spare.append(event)
                    raise error_of("acl.rt.memcpy_async", code, size=size)
            # As `_launched`, which a call would make dearer.
            code = _record_event(event, handle)
            if code:
                raise self._unrecorded(code)
            self._number = number = self._number + 1
            flight = Flight(self, event, (target, source), number)
            self._flights.append(flight)
            pending = to._flights
            if pending is not None and pending[0]._stream is self:
                pending[0] = flight
            else:
                remember(to, flight, self)
            pending = origin._flights
            if pending is not None and pending[0]._stream is self:
                pending[0] = flight
            else:
                remember(origin, flight, self)
        finally:
            turn.append(None)
        return flight

    def fill(self, target: Memory, value: int) -> Flight:
        """Queues a fill with one byte; the memory lives until the stream has passed it."""
        value = byte_of(value)
        wrong = foreign(target, self.device)
        if wrong is not None:
            raise wrong
        size, handle = target.nbytes, self.handle
        self._queue_up()
        try:
            event = self._event()
            code = acl.rt.memset_async(target.address, size, value, size, handle) if size else 0
            if code:
                self._spare.append(event)
                raise error_of("acl.rt.memset_async", code, size=size)
            flight = self._launched(event, (target,))
            remember(target.root, flight, self)
        finally:
            self._turn.append(None)
        return flight

    def wait(self, event: Event) -> None:
        """Lets later work of the stream wait for an event."""
        check("acl.rt.stream_wait_event", acl.rt.stream_wait_event(self.handle, event._open()))

    def synchronize(self, timeout_ms: int = -1) -> None:
        """Waits for all work. Milliseconds, -1 for ever; then ``TimedOut``. Raises what failed on the device."""
        number = self._number
        handle = self.handle
        code = patiently(lambda limit: acl.rt.synchronize_stream_with_timeout(handle, limit), timeout_ms)
        if code == 0:
            self._land(number)
        else:
            self._reap()
        check("acl.rt.synchronize_stream_with_timeout", code, timeout_ms=timeout_ms)

    @property
    def in_flight(self) -> int:
        """How many copies and fills of this package are still on their way."""
        self._reap()
        return len(self._flights)

    def _refuse_foreign(self, target: Memory, source: Memory) -> None:
        """Between two devices either of them may queue the copy; else the device memory decides."""
        ends = [end for end in (target, source) if end.side]
        wrong = [foreign(end, self.device) for end in ends]
        if ends and all(wrong):
            error = wrong[0]
            assert error is not None
            raise error

    def _queue_up(self) -> None:
        """Waits until no other thread queues work, so that the numbers of the flights are the order of the stream.

        A list with one item is a lock that costs less than a lock where nobody waits.
        """
        while True:
            try:
                self._turn.pop()
                return
            except IndexError:
                time.sleep(0)

    def _event(self) -> int:
        """An event for the next copy; it is recorded again and again."""
        flights = self._flights
        if len(flights) >= self._limit:
            self._reap()
            self._limit = max(_MANY, 2 * len(flights))
        try:
            return self._spare.pop()
        except IndexError:
            event, code = acl.rt.create_event_ex_with_flag(_PROGRESS)
            check("acl.rt.create_event_ex_with_flag", code)
            return event

    def _launched(self, event: int, ends: tuple[Memory, ...]) -> Flight:
        """Notes work that was queued."""
        code = _record_event(event, self._handle)
        if code:
            raise self._unrecorded(code)
        self._number = number = self._number + 1
        flight = Flight(self, event, ends, number)
        self._flights.append(flight)
        return flight

    def _unrecorded(self, code: int) -> AclError:
        """The error of a mark that could not be set: nobody would know when the memory is free, so wait now."""
        error = error_of("acl.rt.record_event", code)
        acl.rt.synchronize_stream(self._handle)
        return error

    def _reap(self) -> None:
        """Lets go of the memory of what the stream has passed: all that is older than something done."""
        count = len(self._flights)
        while count:
            try:
                newest = self._flights[count - 1]
            except IndexError:
                # Another thread was here.
                count = len(self._flights)
                continue
            if newest.done:
                self._land(newest.number)
                return
            count //= 2

    def _land(self, number: int) -> None:
        """Lets go of the flights up to this one."""
        flights = self._flights
        spare = self._spare
        with self._lock:
            while flights and flights[0].number <= number:
                flight = flights.popleft()
                # As `Flight._land`, which a call would make dearer.
                event, flight._event = flight._event, 0
                flight._stream = None
                if event:
                    spare.append(event)
                flight._ends = ()

    def close(self) -> None:
        """Waits for its work and destroys it. May be called twice. Raises what failed on the device."""
        handle, self._handle = self._handle, 0
        if not handle:
            return
        try:
            code = patiently(lambda limit: acl.rt.synchronize_stream_with_timeout(handle, limit), -1)
        except BaseException:
            self._handle = handle  # Ctrl-C: its work still uses memory
            raise
        failure = error_of("acl.rt.synchronize_stream", code) if code else None
        with self._lock:
            while self._flights:
                self._flights.popleft()._land(self)
            while self._spare:
                acl.rt.destroy_event(self._spare.pop())
        code = acl.rt.destroy_stream(handle)
        if code in _NO_CONTEXT and acl.rt.set_context(self._context) == 0:
            # The collector runs in any thread, also in one that has no context.
            acl.get_recent_err_msg()
            code = acl.rt.destroy_stream(handle)
        if failure is not None:
            raise failure
        check("acl.rt.destroy_stream", code)

    def __enter__(self) -> Stream:
        self.handle  # noqa: B018 - a closed one cannot be opened again
        return self

    def __exit__(self, *error: object) -> None:
        end(self.close, error[0])

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            drop(self.close)

    def __repr__(self) -> str:
        return f"<Stream {self._handle:#x} of device {self.device}>" if self._handle else "<Stream, closed>"


def _stage(data: HostData, staged: bool) -> PinnedBuffer:
    """Pageable memory as pinned memory, if that was asked for."""
    if not staged:
        raise _pageable(data, "source")
    source_of(data)  # what has no memory is refused first
    return PinnedBuffer.of(data)


def _pageable(data: object, what: str) -> TypeError:
    step = "pass staged=True to copy it into pinned memory first" if what == "source" else "copy to a PinnedBuffer"
    return TypeError(
        f"the {what} of a queued copy must be a DeviceBuffer, a PinnedBuffer or a slice of one, not "
        f"'{type(data).__name__}': {step}, or use copy_from and copy_to, which do not queue"
    )

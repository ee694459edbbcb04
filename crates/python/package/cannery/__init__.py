"""Device memory of Ascend NPUs for Python: objects, exceptions and arrays on top of ``acl``.

It calls only ``acl``, so it works on a card as on Cannery's emulated one.

>>> import numpy
>>> from cannery import DeviceBuffer, session
>>> with session(), DeviceBuffer(4096) as buffer:
...     buffer.copy_from(numpy.arange(1024, dtype="<u4"))
...     int(buffer[:400].to_numpy("<u4").sum())
4950
"""

from .buffers import CachedBuffer, DeviceBuffer, DeviceSlice, PinnedBuffer, PinnedSlice
from .enums import DataType, EventFlag, MallocPolicy, MemAttr, MemcpyKind, MemLocationType, RunMode, StreamFlag
from .errors import (
    AclError,
    CanneryError,
    DeviceFault,
    InvalidArgument,
    MisuseError,
    NoContext,
    NotSupported,
    OutOfMemory,
    OutOfRange,
    StillViewed,
    TimedOut,
    UseAfterFree,
    WrongDevice,
    lost_errors,
)
from .host import HostPointer, borrowed
from .process import Context, Device, MemoryInfo, Process, device_count, memory_info, run_mode, session
from .ranges import Memory
from .snapshots import Snapshot, snapshot
from .stream import Event, Flight, Stream
from .threads import Thread, carry_context

__version__ = "@VERSION@"
__all__ = [
    "AclError",
    "CachedBuffer",
    "CanneryError",
    "Context",
    "DataType",
    "Device",
    "DeviceBuffer",
    "DeviceFault",
    "DeviceSlice",
    "Event",
    "EventFlag",
    "Flight",
    "HostPointer",
    "InvalidArgument",
    "MallocPolicy",
    "MemAttr",
    "MemLocationType",
    "MemcpyKind",
    "Memory",
    "MemoryInfo",
    "MisuseError",
    "NoContext",
    "NotSupported",
    "OutOfMemory",
    "OutOfRange",
    "PinnedBuffer",
    "PinnedSlice",
    "Process",
    "RunMode",
    "Snapshot",
    "StillViewed",
    "Stream",
    "StreamFlag",
    "Thread",
    "TimedOut",
    "UseAfterFree",
    "WrongDevice",
    "borrowed",
    "carry_context",
    "device_count",
    "lost_errors",
    "memory_info",
    "run_mode",
    "session",
    "snapshot",
]

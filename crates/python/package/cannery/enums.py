"""The numbers of the interface, with names."""

# Written by tools/gen_python.py. Do not edit.
from enum import IntEnum, IntFlag

__all__ = [
    "DataType",
    "EventFlag",
    "MallocPolicy",
    "MemAttr",
    "MemLocationType",
    "MemcpyKind",
    "RunMode",
    "StreamFlag",
]


class DataType(IntEnum):
    """Element type of a tensor."""

    DT_UNDEFINED = -1
    FLOAT = 0
    FLOAT16 = 1
    INT8 = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 6
    UINT16 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    DOUBLE = 11
    BOOL = 12
    STRING = 13
    COMPLEX64 = 16
    COMPLEX128 = 17
    BF16 = 27
    INT4 = 29
    UINT1 = 30
    COMPLEX32 = 33
    HIFLOAT8 = 34
    FLOAT8_E5M2 = 35
    FLOAT8_E4M3FN = 36
    FLOAT8_E8M0 = 37
    FLOAT6_E3M2 = 38
    FLOAT6_E2M3 = 39
    FLOAT4_E2M1 = 40
    FLOAT4_E1M2 = 41


class EventFlag(IntFlag):
    """What an event can do."""

    SYNC = 1
    CAPTURE_STREAM_PROGRESS = 2
    TIME_LINE = 8
    DEVICE_USE_ONLY = 16
    EXTERNAL = 32
    IPC = 64


class MallocPolicy(IntFlag):
    """Page choice of an allocation."""

    HUGE_FIRST = 0
    HUGE_ONLY = 1
    NORMAL_ONLY = 2
    HUGE_FIRST_P2P = 3
    HUGE_ONLY_P2P = 4
    NORMAL_ONLY_P2P = 5
    HUGE1G_ONLY = 6
    HUGE1G_ONLY_P2P = 7
    TYPE_LOW_BAND_WIDTH = 256
    TYPE_HIGH_BAND_WIDTH = 4096
    ACCESS_USER_SPACE_READONLY = 1048576


class MemAttr(IntEnum):
    """Memory kind and page pool."""

    DDR_MEM = 0
    HBM_MEM = 1
    DDR_MEM_HUGE = 2
    DDR_MEM_NORMAL = 3
    HBM_MEM_HUGE = 4
    HBM_MEM_NORMAL = 5
    DDR_MEM_P2P_HUGE = 6
    DDR_MEM_P2P_NORMAL = 7
    HBM_MEM_P2P_HUGE = 8
    HBM_MEM_P2P_NORMAL = 9
    HBM_MEM_HUGE1G = 10
    HBM_MEM_P2P_HUGE1G = 11
    MEM_NORMAL = 12
    MEM_HUGE = 13
    MEM_HUGE1G = 14
    MEM_P2P_NORMAL = 15
    MEM_P2P_HUGE = 16
    MEM_P2P_HUGE1G = 17


class MemLocationType(IntEnum):
    """Where memory lies."""

    HOST = 0
    DEVICE = 1
    UNREGISTERED = 2
    MANAGED = 3
    HOST_NUMA = 4


class MemcpyKind(IntEnum):
    """Direction of a copy."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4
    HOST_TO_BUF_TO_DEVICE = 5
    INNER_DEVICE_TO_DEVICE = 6
    INTER_DEVICE_TO_DEVICE = 7


class RunMode(IntEnum):
    """Side on which the program runs."""

    DEVICE = 0
    HOST = 1


class StreamFlag(IntFlag):
    """How a stream is made."""

    FAST_LAUNCH = 1
    FAST_SYNC = 2
    PERSISTENT = 4
    HUGE = 8
    CPU_SCHEDULE = 16
    DEVICE_USE_ONLY = 32

"""The released programs that run.py installs: what is installed, and which scripts run.

CLIENTS run when nothing is asked for; OLDER, earlier releases of some of them, by name.
"""

import ctypes

SMALL = {"CANNERY_HBM_BYTES": "256M", "CANNERY_HUGE_BYTES": "250M"}
EXPANDABLE = {"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"}

# Python packages that torch needs, without those of its GPU.
TORCH_NEEDS = "filelock typing-extensions sympy networkx jinja2 fsspec numpy pyyaml setuptools".split()


class Client:
    """A released program: what is installed, and which scripts run."""

    def __init__(
        self,
        name,
        wheel,
        runs,
        *,
        more=(),
        alone=(),
        version="3.11",
        library="",
        package="",
        directory="",
        lacks=None,
    ):
        self.name, self.wheel, self.runs, self.more, self.alone, self.version = name, wheel, runs, more, alone, version
        # Checks of what this release does not have, and why: they do not run.
        self.lacks = lacks or {}
        self.settings = {"CLIENT_LACKS": "|".join(self.lacks)} if lacks else {}
        # A program that wants the toolkit in a directory of a certain name gets a copy there.
        self.directory = directory
        # A library of the system that the wheel needs, and the package that has it.
        self.library, self.package = library, package

    def check_system(self):
        """Raises LeftOut where the system lacks a library that the wheel needs."""
        try:
            if self.library:
                ctypes.CDLL(self.library)
        except OSError as error:
            raise LeftOut(f"needs {self.library} of the system (package {self.package})") from error


# A run: script, settings, and what the table says of the settings.
CLIENTS = [
    Client(
        "torch",
        "torch_npu==2.14.0",
        [
            ("torch_core", {}, ""),
            ("torch_two_devices", {"CANNERY_DEVICES": "2"}, "two devices"),
            ("torch_small_card", SMALL, "256 MiB"),
            ("torch_small_card", {**SMALL, **EXPANDABLE}, "256 MiB, expandable segments"),
            ("torch_core", EXPANDABLE, "expandable segments"),
            ("torch_allocators", {}, ""),
            ("torch_allocators", {"CLIENT_PLUGGABLE": "1"}, "pluggable allocator"),
            ("torch_ipc", {}, "plain sharing"),
            ("torch_ipc", EXPANDABLE, "sharing of expandable segments"),
            ("torch_programs", {}, ""),
            ("torch_workers", {}, ""),
        ],
        alone=["torch==2.14.0", "torch_npu==2.14.0"],
        more=TORCH_NEEDS,
    ),
    Client(
        "numpy-ascend",
        "numpy-ascend==14.0.0a1",
        [("numpy_ascend", {}, ""), ("numpy_ascend", {"CANNERY_DEVICES": "2"}, "two devices")],
    ),
    Client(
        "onnxruntime-cann",
        "onnxruntime-cann==1.24.4",
        [("onnx_cann", {}, "")],
        more=["numpy==1.26.4", "onnx==1.16.2"],
    ),
    Client(
        "mooncake",
        "mooncake-transfer-engine-npu==0.3.13.post1",
        [("mooncake_engine", {}, "")],
        library="libibverbs.so.1",
        package="libibverbs1",
    ),
    Client(
        "mindspore",
        "mindspore==2.10.0",
        [("mindspore_tensors", {}, ""), ("mindspore_small_card", {"CANNERY_HBM_BYTES": "2G"}, "2 GiB")],
        more=["numpy==1.26.4"],
        directory="cann",
    ),
    Client(
        "ascendfly",
        "ascendfly==1.4",
        [("ascendfly_arrays", {}, "")],
        more=["numpy==1.26.4", "opencv-python-headless==4.11.0.86"],
    ),
]


class LeftOut(Exception):
    """Why a client cannot run here."""


# Earlier releases, with the checks for which they lack what the newest has.
OLDER_RUNS = [
    ("torch_core", {}, ""),
    ("torch_two_devices", {"CANNERY_DEVICES": "2"}, "two devices"),
    ("torch_small_card", SMALL, "256 MiB"),
    ("torch_small_card", {**SMALL, **EXPANDABLE}, "256 MiB, expandable segments"),
    ("torch_core", EXPANDABLE, "expandable segments"),
    ("torch_ipc", {}, "plain sharing"),
    ("torch_ipc", EXPANDABLE, "sharing of expandable segments"),
    ("torch_programs", {}, ""),
]
NO_HOST_FUNCTIONS = {"host functions": "not in this release"}
NO_UUID = {"each device has its own id": "not in this release"}
NO_DUMP = {"a graph is written down": "not in this release"}
# It raises where the newest warns, and ends the process when the graph is deleted.
STRICT_RESET = {"a graph is given up while it runs": "the release ends the process when aclmdlRIDestroy refuses"}
# Its own allocator remembers a capture that failed, and lets no other one begin.
FAILED_CAPTURES = {"a capture that fails leaves the next one alone": "the release lets no capture follow a failed one"}
GRAPHS_NEED_OPERATORS = dict.fromkeys(
    [
        "NPUGraph: capture and replay of copies",
        "two graphs share a pool; a graph on several streams",
        "a capture that fails leaves the next one alone",
        "a graph waits for an event from outside",
        "a graph is given up while it runs",
        "a graph is written down",
    ],
    "a capture of this release runs an operator (aclnnInplaceFillScalar)",
)


def older_torch(torch, client, lacks, without=()):
    """An earlier release of torch_npu, with the torch that it is for."""
    old = tuple(map(int, torch.split(".")[:2])) < (2, 6)
    return Client(
        f"torch-{torch}",
        f"torch_npu=={client}",
        [run for run in OLDER_RUNS if run[0] not in without],
        alone=[f"torch=={torch}", f"torch_npu=={client}"],
        more=["numpy<2" if old and name == "numpy" else name for name in TORCH_NEEDS],
        lacks=lacks,
    )


OLDER = [
    older_torch(
        "2.1.0", "2.1.0.post17", {**NO_HOST_FUNCTIONS, **NO_UUID, **NO_DUMP, **STRICT_RESET, **FAILED_CAPTURES}
    ),
    older_torch(
        "2.5.1",
        "2.5.1.post1",
        {
            **NO_HOST_FUNCTIONS,
            **NO_UUID,
            **NO_DUMP,
            **STRICT_RESET,
            **FAILED_CAPTURES,
            "all of torch_ipc.py": "this release shares no tensors between processes",
        },
        without=("torch_ipc",),
    ),
    older_torch(
        "2.7.1",
        "2.7.1.post11",
        {
            **GRAPHS_NEED_OPERATORS,
            "torch.save and torch.load, to and from the device": "map_location as a dictionary is ignored",
        },
    ),
    older_torch("2.9.0", "2.9.0.post9", GRAPHS_NEED_OPERATORS),
    older_torch("2.12.0", "2.12.0.post3", None),
    Client(
        "mindspore-2.7.0",
        "mindspore==2.7.0",
        [("mindspore_tensors", {}, ""), ("mindspore_small_card", {"CANNERY_HBM_BYTES": "2G"}, "2 GiB")],
        more=["numpy==1.26.4"],
        directory="latest",
        lacks={
            "pinned memory": "not in this release",
            "a compiled graph is refused with a text": "what the check does is an operator there (aclnnCast), refused",
        },
    ),
]

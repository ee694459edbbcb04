"""Start-up file of Python programs that run with Cannery's prefix on PYTHONPATH.

The torch wheel for x86-64 is built for GPUs and registers keys of allocator configuration that
torch_npu registers too; the second registration ends the process. When torch_npu is imported into
such a process, the GPU's keys, which nobody can use without a GPU, are renamed first.

Nothing happens in processes that do not import torch_npu, and with a torch that has no such keys.
``CANNERY_PYTHON_HOOKS=off`` switches it off. Another sitecustomize behind this one runs as well.
"""

import os
import sys

_CLIENT = "torch_npu"
_LIBRARY = "libc10.so"
# c10::CachingAllocator::AcceleratorAllocatorConfig::getMutableKeys(), a set of strings. Releases that have
# it only inline export the set that it keeps, and the guard that tells whether it has been made.
_KEYS_FUNCTION = "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev"
_KEYS = "_ZZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11EvE4keys"
_KEYS_MADE = "_ZGVZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11EvE4keys"
_MOST_KEYS = 1000
_OF_GPUS = {
    b"backend",
    b"graph_capture_record_stream_reuse",
    b"per_process_memory_fraction",
    b"pinned_free_catch_all",
    b"pinned_num_register_threads",
    b"pinned_reserve_segment_size_mb",
    b"pinned_use_cuda_host_register",
    b"pinned_use_hip_host_register",
    b"release_lock_on_cudamalloc",
    b"release_lock_on_hipmalloc",
    b"throw_on_cudamalloc_oom",
}


def _set_of_keys(ctypes, path):
    """Where the set of keys is; None with a torch that has none, or none yet."""
    try:
        # Only the library that is loaded already has the keys.
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None
    try:
        keys = getattr(library, _KEYS_FUNCTION)
        keys.restype = ctypes.c_void_p
        return keys()
    except AttributeError:
        pass
    try:
        made = ctypes.c_uint8.in_dll(library, _KEYS_MADE).value
        return ctypes.addressof(ctypes.c_size_t.in_dll(library, _KEYS)) if made else None
    except ValueError:
        return None


def _rename_keys_of_gpus(torch):
    """Changes the first letter of the keys, in place, so that they can be registered again."""
    import ctypes

    table = _set_of_keys(ctypes, os.path.join(os.path.dirname(torch.__file__), "lib", _LIBRARY))
    if not table:
        return

    def word(address):
        return ctypes.c_size_t.from_address(address).value

    # A std::unordered_set of libstdc++: buckets, their number, first node, number of nodes. A node:
    # the next one, then a string (address, length).
    node, count = word(table + 16), word(table + 24)
    if count > _MOST_KEYS:
        return
    found = []
    while node and len(found) < count:
        text, length = word(node + 8), word(node + 16)
        found.append((text, ctypes.string_at(text, length)))
        node = word(node)
    if node or len(found) != count:
        return
    for text, key in found:
        if key in _OF_GPUS:
            ctypes.memset(text, ord("~"), 1)


class _BeforeClient:
    """Looks at imports; finds no module itself."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == _CLIENT or name.startswith(_CLIENT + "."):
            torch = sys.modules.get("torch")
            # torch_npu imports torch before anything that loads its own libraries.
            if torch is not None and getattr(torch, "__file__", None):
                sys.meta_path.remove(cls)
                if getattr(getattr(torch, "version", None), "cuda", None):
                    _rename_keys_of_gpus(torch)


def _run_next():
    """Runs the sitecustomize that would have run without this one."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    own = os.path.realpath(__file__)
    for place in sys.path:
        spec = PathFinder.find_spec("sitecustomize", [place])
        if spec is None or spec.loader is None or os.path.realpath(spec.origin or "") == own:
            continue
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)
        return


if os.environ.get("CANNERY_PYTHON_HOOKS", "on").lower() != "off":
    sys.meta_path.insert(0, _BeforeClient)
_run_next()

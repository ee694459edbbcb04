"""Random tensors and their comparison, for the torch scripts."""

import torch

MIB = 1 << 20
NPU = torch.device("npu:0")
# Early releases of torch_npu have no error of its own for a shortage.
EARLY = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 7)
OutOfMemory = RuntimeError if EARLY else torch.OutOfMemoryError
_generator = torch.Generator().manual_seed(20260822)


def random_bytes(count=2 * MIB + 3, *, pinned=False):
    """Random data of an odd size, the same in every run."""
    data = torch.randint(0, 256, (count,), dtype=torch.uint8, generator=_generator)
    return data.pin_memory() if pinned else data


def random_floats(*shape):
    """Random numbers of 32 bits."""
    return torch.randint(-(1 << 31), 1 << 31, shape, dtype=torch.int64, generator=_generator).to(torch.float32)


def same(left, right):
    """Equal types, shapes and bytes."""
    left, right = left.cpu(), right.cpu()
    assert left.dtype == right.dtype and left.shape == right.shape, (left.dtype, left.shape, right.dtype, right.shape)
    assert torch.equal(left.contiguous().view(torch.uint8), right.contiguous().view(torch.uint8)), "bytes differ"

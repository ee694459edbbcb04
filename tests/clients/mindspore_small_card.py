"""MindSpore on a small card: a shortage, its text, and what works after it."""

import mindspore
import numpy
from checks import check, finish

SIZE = 64 << 20
_random = numpy.random.default_rng(7)
kept = []


def tensor_and_data():
    data = _random.integers(0, 256, SIZE, dtype=numpy.uint8)
    return mindspore.Tensor(data).move_to("Ascend"), data


@check("a full card, with numbers in the error")
def _():
    mindspore.set_device("Ascend", 0)
    try:
        for _ in range(100):
            kept.append(tensor_and_data())
    except RuntimeError as error:
        text = str(error)
        assert f"Allocate size: {SIZE}" in text, text
        first = next(line for line in text.splitlines() if line.startswith("["))
        assert "out of memory on device 0" in first and "huge (2 MiB) pool free 0 bytes" in first, text
    else:
        raise AssertionError("more memory than the card has")
    assert len(kept) >= 8, len(kept)


@check("a shortage leaves the other tensors alone")
def _():
    for tensor, data in kept:
        assert tensor.asnumpy().tobytes() == data.tobytes(), "bytes differ"


@check("released memory can be used again")
def _():
    half = len(kept) // 2
    del kept[:half]
    for _ in range(half - 1):
        kept.append(tensor_and_data())
    for tensor, data in kept:
        assert tensor.asnumpy().tobytes() == data.tobytes(), "bytes differ"


finish()
